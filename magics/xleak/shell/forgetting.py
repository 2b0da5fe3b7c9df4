"""Plans what `%xdel` drops: which references are the shell's, and who else holds the value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.heap import shell_labels
from xleak.shell.tracebacks import LAST_TRACEBACK, last_errors

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

# For one error. What it reaches beyond that stays unsearched.
_SEARCH_MS = 500.0
_SCALARS = (str, int, float, bool, complex, type(None))
# Text and numbers below that are shared all over the interpreter, so who else has one means nothing.
_LARGE_SCALAR_BYTES = 64 << 10
# More than anybody reads.
_WAYS = 100
_QUOTED = re.compile(r"'[^']*'")


@dataclass
class Plan:
    """What to drop. `objects` has the only references that the plan itself keeps."""

    objects: list[Any]
    name: str | None
    dropped: list[str] = field(default_factory=list)
    holders: list[str] = field(default_factory=list)
    drops_traceback: bool = False
    expected: dict[str, int] = field(default_factory=dict)


def make_plan(
    watcher: Watcher, heap: _native.HeapSnapshot | None, objects: list[Any], name: str | None
) -> Plan:
    """A plan to forget `objects[0]`; name: the user's name that goes with it, None for an entry.
    heap: as it was before anything here referred to the value."""
    caches, shell = watcher.caches, watcher.shell
    barriers = caches.barriers()
    parts = set() if _is_scalar(objects[0]) else _native.parts_of(objects[0], barriers)
    plan = Plan(objects, name)
    kept = Namespace(watcher, without=name)
    plan.objects += _views(watcher, parts, {id(objects[0])}, kept)
    ids = {id(value) for value in plan.objects}
    references: Counter[int] = Counter(ids)  # one from the plan's own list
    if name is not None:
        references[id(objects[0])] += 1
        plan.dropped.append(name)
    for label, value in [*caches.slots(), *kept.of_tools()]:
        if id(value) in ids:
            plan.dropped.append(label)
            references[id(value)] += 1
    value = None
    errors = last_errors(shell)
    plan.drops_traceback = any(_reaches(error, parts, barriers) for error in errors)
    if plan.drops_traceback:
        plan.dropped.append(LAST_TRACEBACK)
    going = [*shell_labels(watcher, ids), *([] if name is None else [name])]
    going += [LAST_TRACEBACK] if plan.drops_traceback else []
    if heap is not None and not _is_scalar(objects[0]):
        plan.holders = _holders(heap, objects[0], going)
    plan.dropped = list(dict.fromkeys(plan.dropped))
    named = [value for _, value in kept.of_user()]
    plan.expected = _native.would_free(plan.objects, references, named, barriers)
    return plan


class Namespace:
    """The user's namespace without what the shell put there, and without one name."""

    def __init__(self, watcher: Watcher, without: str | None) -> None:
        self._user_ns = watcher.shell.user_ns
        hidden = watcher.shell.user_ns_hidden
        names = [name for name in self._user_ns if type(name) is str and name != without]
        names = [name for name in names if not watcher.caches.is_cached_name(name)]
        self._tools = watcher.tool_names() - {without}
        self._names = [
            name
            for name in names
            if name not in self._tools
            and not (name in hidden and hidden[name] is self._user_ns[name])
        ]

    def of_user(self) -> Iterator[tuple[str, Any]]:
        """(name, value) of the user's own names, scalars and text left out."""
        for name in self._names:
            value = self._user_ns[name]
            if not _is_scalar(value) and type(value) is not ModuleType:
                yield name, value

    def of_tools(self) -> Iterator[tuple[str, Any]]:
        """(name, value) of names that a tool made."""
        for name in self._tools:
            yield name, self._user_ns[name]


def _is_scalar(value: object) -> bool:
    return type(value) in _SCALARS and value.__sizeof__() < _LARGE_SCALAR_BYTES


def _views(watcher: Watcher, parts: set[int], known: set[int], kept: Namespace) -> list[Any]:
    """Other values in the caches whose memory is wholly that of the parts: `q.T`, a slice, an item.

    Entries that the user's source uses are not among them.
    """
    caches = watcher.caches
    used = {id(value) for number, value in caches.out.items() if number in watcher.mentioned}
    known = known | used | {id(value) for _, value in kept.of_user()}
    views = []
    for _, value in [*caches.slots(), *kept.of_tools()]:
        if id(value) in known or _is_scalar(value):
            continue
        known = known | {id(value)}
        own = _native.parts_of(value, caches.barriers())
        if id(value) not in parts:
            own -= {id(value)}
        if own and own <= parts:
            views.append(value)
    return views


def _reaches(value: object, parts: set[int], barriers: list[object]) -> bool:
    return _native.reaches(value, parts, barriers, _SEARCH_MS)


def _holders(heap: _native.HeapSnapshot, value: Any, going: list[str]) -> list[str]:
    """Who else holds the value, or where nobody does large parts of it, as expressions."""
    ways = heap.ways_besides(value, going, _WAYS) or heap.ways_to_parts(value, going, _WAYS)
    return [f"`{way}`" if _is_expression(way) else way for way in ways]


def _is_expression(way: str) -> bool:
    return " " not in _QUOTED.sub("", way)
