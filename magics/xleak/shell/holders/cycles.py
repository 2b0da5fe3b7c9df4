"""Garbage in cycles of the user's making, which waits for the collector."""

from __future__ import annotations

import functools
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.holders.contexts import context_type, contexts_of_the_user, function_of
from xleak.shell.holders.look import REPORTED_BYTES, Look

# So much is told at once. Less must outlive a cell: the next automatic collection may take it.
_AT_ONCE_BYTES = 16 << 20
_CALLABLES = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinMethodType,
    types.CellType,
    functools.partial,
)


@dataclass
class _Waiting:
    """The garbage of one class or function. starts: an object of each cycle."""

    kept: int = 0
    starts: list[Any] = field(default_factory=list)


class GarbageCycles:
    """What no name reaches, but its own cycle: by the class of the user's that closes it."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, int], int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """That which outlived a cell, or is large."""
        found = {n: it for n, it in _by_name(look).items() if it.kept >= REPORTED_BYTES}
        before, self._since = self._since, {}
        for name, waiting in found.items():
            keys = [(name, id(start)) for start in waiting.starts]
            self._since |= {key: before.get(key, look.cell) for key in keys}
            since = min(self._since[key] for key in keys)
            if since < look.cell or waiting.kept >= _AT_ONCE_BYTES:
                yield from _holder(look, name, waiting, since)
            else:
                look.search_again()


def _by_name(look: Look) -> dict[str, _Waiting]:
    """By class, or by function where no object of a class is part of it."""
    found: dict[str, _Waiting] = {}
    made = look.live.made_in(look.watcher.shell.user_ns)
    for members, kept in look.heap.garbage_cycles(made + contexts_of_the_user(look)):
        start = _start_of(members)
        waiting = found.setdefault(name_of(start), _Waiting())
        waiting.kept += kept
        waiting.starts.append(start)
    return found


def _start_of(members: list[Any]) -> Any:
    """An object of the class with the fewest: the owner, not its parts."""
    objects = [it for it in members if type(it) is not types.FunctionType] or members
    counts = Counter(name_of(it) for it in objects)
    return min(objects, key=lambda it: (counts[name_of(it)], name_of(it)))


def name_of(it: Any) -> str:
    """The name of a function, or that of an object's class."""
    if type(it) is types.FunctionType:
        return it.__name__
    return function_of(it) if _is_context(it) else _native.type_name(it)


def _is_context(it: object) -> bool:
    return context_type() is not None and _native.is_kind_of(it, context_type())


def _kind_of(cycle: list[Any]) -> str:
    if any(_is_context(it) for it in cycle):
        return "cycle of a context"
    called = any(_native.is_kind_of(it, _CALLABLES) for it in cycle)
    kind = "cycle of a callback" if called else "cycle of objects"
    return f"{kind}, to be collected" if _collector_runs() else kind


def _collector_runs() -> bool:
    """Whether it will take garbage by itself, sooner or later."""
    return gc.isenabled() and gc.get_threshold()[0] > 0 and not gc.get_debug() & gc.DEBUG_SAVEALL


def _holder(look: Look, name: str, waiting: _Waiting, since: int) -> Iterator[_native.Holder]:
    steps, objects = look.heap.way_around(waiting.starts[0])
    if objects:
        kind = _kind_of(objects)
        label, count = f"{name}: garbage in a cycle", len(waiting.starts)
        release = "import gc; gc.collect();"
        yield _native.Holder(kind, label, waiting.kept, since, name + steps, count, release)
