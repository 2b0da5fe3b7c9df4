"""Sessions that have to agree: xleak's kernel, and ipykernel with and without xleak."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from harness import IpykernelManager, Session, XleakManager, start, stop

T = TypeVar("T")

WAYS = ["kernel", "load_ext"]


@contextmanager
def session_of(way: str) -> Iterator[Session]:
    """kernel: xleak's own. load_ext: ipykernel with xleak. plain: ipykernel alone. Each has run one cell."""
    session = start(kind=XleakManager if way == "kernel" else IpykernelManager)
    try:
        session.run("%load_ext xleak" if way == "load_ext" else "None")
        yield session
    finally:
        stop(session)


def ran_in(way: str, run: Callable[[Session], T]) -> T:
    """What `run` returns of a session of its own."""
    with session_of(way) as session:
        return run(session)
