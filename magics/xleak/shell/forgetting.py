"""Plans what `%xdel` drops: which references are the shell's, and who else holds the value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.heap import shell_labels
from xleak.shell.tracebacks import LAST_TRACEBACK, frames_to_go, last_errors

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

# More than anybody reads.
_WAYS = 100
_QUOTED = re.compile(r"'[^']*'")


@dataclass
class Plan:
    """What to drop. `objects` has the only references that the plan itself keeps.

    expected: bytes by allocator. waits: some of them come back only once the collector has run.
    """

    objects: list[Any]
    names: list[str]
    dropped: list[str] = field(default_factory=list)
    holders: list[str] = field(default_factory=list)
    drops_traceback: bool = False
    expected: dict[str, int] = field(default_factory=dict)
    waits: bool = False


def make_plan(
    watcher: Watcher, heap: _native.HeapSnapshot, objects: list[Any], names: list[str]
) -> Plan:
    """A plan to forget the objects; names: the user's names that go with them, none for an entry.
    heap: as it was before anything here referred to the values."""
    caches, shell = watcher.caches, watcher.shell
    barriers = caches.barriers()
    parts = set[int]()
    for value in objects:
        parts |= set() if _native.is_small_scalar(value) else _native.parts_of(value, barriers)
    plan = Plan(objects, names, list(names))
    kept = Namespace(watcher, without=names)
    asked_for = list(objects)
    plan.objects += _views(watcher, parts, {id(it) for it in objects}, kept)
    ids = {id(it) for it in plan.objects}
    plan.dropped += [it for it, value in [*caches.slots(), *kept.of_tools()] if id(value) in ids]
    errors = last_errors(shell)
    plan.drops_traceback = any(_native.reaches(error, parts, barriers) for error in errors)
    going = [*shell_labels(watcher, ids), *names]
    links: list[tuple[Any, Any]] = []
    if plan.drops_traceback:
        plan.dropped.append(LAST_TRACEBACK)
        going.append(LAST_TRACEBACK)
        links += frames_to_go(shell)
    found = [
        _holders(heap, value, going) for value in asked_for if not _native.is_small_scalar(value)
    ]
    plan.holders = list(dict.fromkeys(holder for holders in found for holder in holders))
    plan.dropped = list(dict.fromkeys(plan.dropped))
    plan.expected = heap.freed_by(going, links)
    plan.waits = heap.would_wait(going, links)
    return plan


class Namespace:
    """The user's namespace without what the shell put there, and without some names."""

    def __init__(self, watcher: Watcher, without: list[str]) -> None:
        tools = watcher.tool_names()
        own = set(watcher.caches.user_names()) - tools
        entries = _native.entries_of(watcher.shell.user_ns)
        kept = [(name, value) for name, value in entries.items() if name not in without]
        self._tools = [(name, value) for name, value in kept if name in tools]
        self._names = [(name, value) for name, value in kept if name in own]

    def of_user(self) -> Iterator[tuple[str, Any]]:
        """(name, value) of the user's own names, scalars and text left out."""
        for name, value in self._names:
            if not _native.is_small_scalar(value) and type(value) is not ModuleType:
                yield name, value

    def of_tools(self) -> Iterator[tuple[str, Any]]:
        """(name, value) of names that a tool made."""
        yield from self._tools


def _views(watcher: Watcher, parts: set[int], known: set[int], kept: Namespace) -> list[Any]:
    """Other values in the caches whose memory is wholly that of the parts: `q.T`, a slice, an item.

    Entries that the user's source uses are not among them.
    """
    caches = watcher.caches
    used = {id(value) for number, value in caches.entries().items() if number in watcher.mentioned}
    known = known | used | {id(value) for _, value in kept.of_user()}
    views = []
    for _, value in [*caches.slots(), *kept.of_tools()]:
        if id(value) in known or _native.is_small_scalar(value):
            continue
        known.add(id(value))
        own = _native.parts_of(value, caches.barriers())
        if id(value) not in parts:
            own -= {id(value)}
        if own and own <= parts:
            views.append(value)
    return views


def _holders(heap: _native.HeapSnapshot, value: Any, going: list[str]) -> list[str]:
    """Who else holds the value, or where nobody does large parts of it, as expressions."""
    ways = heap.ways_besides(value, going, _WAYS) or heap.ways_to_parts(value, going, _WAYS)
    return [f"`{way}`" if _is_expression(way) else way for way in ways]


def _is_expression(way: str) -> bool:
    return " " not in _QUOTED.sub("", way)
