"""Reads requests of a panel, `fromFrontEnd` of share/comm/v1.schema.json, and refuses all others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xleak.originals import time

MOST_BYTES = 64 << 10
# JavaScript counts exactly up to here.
_MOST_ID = 2**53 - 1
_MOST_NAME = 1000
_MOST_FIXES = 100
_MOST_PAGE = 1_000_000
# To switch xleak off is left to the user's own code.
_POLICIES = ("report", "ask", "auto")
_FINDING_ID = re.compile(r"[0-9a-f]{8}-[1-9][0-9]{0,8}")
# Nobody clicks that fast; a panel that is opened asks a few things at once.
MOST_IN_WINDOW = 60
WINDOW_SECONDS = 2.0

Check = Callable[[Any], bool]


class Refused(Exception):
    """Why a request is not carried out, in one sentence."""


@dataclass(frozen=True)
class Request:
    """A request whose arguments are all there and of the right type."""

    id: int
    kind: str
    arguments: dict[str, Any]


def _is_finding_id(value: Any) -> bool:
    return type(value) is str and _FINDING_ID.fullmatch(value) is not None


def _is_fix_index(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST_FIXES


def _is_name(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= _MOST_NAME


def _is_page(value: Any) -> bool:
    return type(value) is int and 1 <= value <= _MOST_PAGE


def _is_entry(value: Any) -> bool:
    return type(value) is int and 1 <= value <= _MOST_ID


def _is_policy(value: Any) -> bool:
    return type(value) is str and value in _POLICIES


def _is_flag(value: Any) -> bool:
    return type(value) is bool


REQUESTS: dict[str, dict[str, Check]] = {
    "subscribe": {},
    "unsubscribe": {},
    "findings": {},
    "run_fix": {"finding": _is_finding_id, "fix": _is_fix_index},
    "xdel": {"name": _is_name, "dry_run": _is_flag},
    "release_cache": {"dry_run": _is_flag},
    "dismiss": {"finding": _is_finding_id},
    "show_dismissed": {},
    "names": {},
    "path": {"name": _is_name},
    "census": {"page": _is_page},
    "devices": {},
    "journal": {},
    "undo": {"number": _is_entry},
    "set_policy": {"policy": _is_policy},
}
"""The closed list: what each kind takes, and what it must be."""


def id_of(data: Any) -> int | None:
    """The id of what should be a request, None where it has none."""
    value = data.get("id") if type(data) is dict else None
    return value if type(value) is int and 1 <= value <= _MOST_ID else None


def read(data: Any, buffers: Sequence[object] | None) -> Request:
    """The request in the data of a comm message. Raises Refused."""
    if type(data) is not dict or buffers:
        raise Refused("A request is one JSON object without buffers.")
    texts = [text for text in (*data, *data.values()) if type(text) is str]
    if sum(map(_byte_length, texts)) > MOST_BYTES:
        raise Refused("The request is larger than 64 KiB.")
    request_id = id_of(data)
    if request_id is None:
        raise Refused("A request has an id, a number from 1 up.")
    kind = data.get("kind")
    if type(kind) is not str or kind not in REQUESTS:
        raise Refused(f"The kinds of requests are {', '.join(REQUESTS)}.")
    arguments = {name: value for name, value in data.items() if name not in ("id", "kind")}
    checks = REQUESTS[kind]
    if arguments.keys() != checks.keys():
        raise Refused(f"{kind} takes exactly: {', '.join(checks) or 'nothing'}.")
    if wrong := [name for name, value in arguments.items() if not checks[name](value)]:
        raise Refused(f"{kind} got a value for {wrong[0]} that cannot be one.")
    return Request(request_id, kind, arguments)


def _byte_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class Gate:
    """Lets so many messages of one front end through in a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends = 0.0
        self._count = 0

    def count(self) -> int:
        """Counts a message; how many there were since the window began, this one included."""
        now = self._clock()
        if now >= self._ends:
            self._ends, self._count = now + WINDOW_SECONDS, 0
        self._count += 1
        return self._count
