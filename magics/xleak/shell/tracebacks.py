"""The last error, which keeps the locals of every frame that it went through."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from xleak import _native

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

LAST_TRACEBACK = "the last traceback"
_LAST_NAMES = ("last_exc", "last_value", "last_traceback", "last_type")


def error_entries(shell: InteractiveShell) -> list[tuple[dict[str, Any], tuple[str, ...]]]:
    """(dictionary, keys) of every place where Python and IPython keep the last error."""
    places = [(vars(sys), _LAST_NAMES), (vars(shell.InteractiveTB), ("tb", "value", "pdb"))]
    if shell.last_execution_result is not None:
        result = vars(shell.last_execution_result)
        places.append((result, ("error_in_exec", "error_before_exec")))
    return places


def frames_of_last() -> Iterator[FrameType]:
    """Those that the last error went through, outermost first."""
    at = vars(sys).get("last_traceback")
    while type(at) is TracebackType:
        yield at.tb_frame
        at = at.tb_next


def last_errors(shell: InteractiveShell) -> list[object]:
    """The exceptions and tracebacks that are kept there."""
    kept = [entries.get(name) for entries, names in error_entries(shell) for name in names]
    return [error for error in kept if error is not None]


def drop_last_errors(shell: InteractiveShell, others: Iterable[int] = ()) -> None:
    """Lets the frames go. An exception that the user has a name for keeps its traceback, and so does
    one whose id is among `others`."""
    # Unbound, because a class of the user's may have attributes of its own making.
    frames: Any = BaseException.__traceback__
    for error, _ in frames_to_go(shell, others):
        frames.__set__(error, None)
    for name in _LAST_NAMES:
        if hasattr(sys, name):
            delattr(sys, name)
    places = vars(shell.InteractiveTB)
    for name in ("tb", "value", "etype", "pdb"):
        if name in places:
            places[name] = None


def frames_to_go(
    shell: InteractiveShell, others: Iterable[int] = ()
) -> list[tuple[BaseException, TracebackType]]:
    """The exceptions that drop_last_errors() parts from their tracebacks, along __cause__ and
    __context__: each keeps frames of its own."""
    named = {id(value) for value in _native.values_of(shell.user_ns)}.union(others)
    frames: Any = BaseException.__traceback__
    going = {}
    for error in last_errors(shell):
        for linked in chain(error, named) if _native.is_kind_of(error, BaseException) else ():
            if (traceback := frames.__get__(linked)) is not None:
                going[id(linked)] = linked, traceback
    return list(going.values())


def last_exceptions(shell: InteractiveShell) -> list[BaseException]:
    """Those of the last errors whose frames drop_last_errors() lets go, but for names."""
    errors = [error for error in last_errors(shell) if _native.is_kind_of(error, BaseException)]
    return [it for error in errors for it in chain(error)]


def chain(error: Any, without: Collection[int] = ()) -> Iterator[BaseException]:
    """An exception and those behind it, but through those of some ids."""
    links: list[Any] = [BaseException.__cause__, BaseException.__context__]
    pending, seen = [error], set(without)
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        following = [link.__get__(current) for link in links]
        pending += [linked for linked in following if linked is not None]
