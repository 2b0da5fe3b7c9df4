"""A kernel that is soaked, and what one try of many came to."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from harness import IpykernelManager, Session, XleakManager, start, stop

KINDS = {"xleak": XleakManager, "ipykernel": IpykernelManager}
# What has not come by then does not come.
PATIENCE_SECONDS = 3


class Try(NamedTuple):
    kind: str
    wrong: str = ""


def reason(error: Exception) -> str:
    """One line, the beginning of what may be long."""
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, AssertionError) else f"{type(error).__name__} {text}".strip()


def begin(name: str, env: dict[str, str] | None = None) -> Session:
    """What it says of odd messages on its terminal is not shown."""
    return start(env, kind=KINDS[name], stderr=subprocess.DEVNULL)


def end(session: Session) -> None:
    with suppress(Exception):
        stop(session)


class Soaked:
    """A kernel, started again once it answers no more."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.session = begin(name)

    def attempt(self, kind: str, what: Callable[[Session], object]) -> Try:
        try:
            what(self.session)
            return Try(kind)
        except Exception as error:
            why = reason(error)
        try:
            self.session.wait(self.session.send("", silent=True), PATIENCE_SECONDS)
        except Exception:
            why = f"{why}; no answer since (exit status {self.session.process.poll()})"
            end(self.session)
            self.session = begin(self.name)
        return Try(kind, why)
