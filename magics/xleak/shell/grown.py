"""Who holds more than at an earlier look at the heap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.heap import FIGURES, LEAST_BYTES, user_values
from xleak.shell.tracebacks import LAST_TRACEBACK

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

MODULES = "sys.modules"
# Holders that no value of the user's stands behind.
_UNNAMED = (LAST_TRACEBACK, FIGURES, MODULES)


@dataclass(frozen=True)
class Holdings:
    """One look: bytes that go with a label, and those that an object had, by its id()."""

    retained: dict[str, int]
    of_object: dict[int, int]


@dataclass(frozen=True)
class Grown:
    """A name, an output entry or another holder that holds more now. `others`: who shares it."""

    label: str
    type_name: str
    bytes: int
    others: list[str]


def holdings(watcher: Watcher, heap: _native.HeapSnapshot) -> Holdings:
    """Who holds how much, without a reference to anything."""
    retained = {label: heap.retained_bytes(label) for label in _UNNAMED}
    of_object: dict[int, int] = {}
    for label, value in _values(watcher):
        retained[label] = heap.retained_bytes(label)
        had = max(retained[label], heap.own_bytes(label))
        of_object[id(value)] = max(had, of_object.get(id(value), 0))
    return Holdings(retained, of_object)


def grown_since(
    watcher: Watcher, heap: _native.HeapSnapshot, before: Holdings, most: int, ways: int
) -> list[Grown]:
    """Those that hold at least 64 KiB more than `before`, most first; with each at most `ways` of
    those that share it. A value that only got another name has not grown."""
    seen: set[int] = set()
    grown = [
        Grown(label, "", more, [])
        for label in _UNNAMED
        if (more := heap.retained_bytes(label) - before.retained[label]) >= LEAST_BYTES
    ]
    for label, value in _values(watcher):
        had = max(before.retained.get(label, 0), before.of_object.get(id(value), 0))
        more = max(heap.retained_bytes(label), heap.own_bytes(label)) - had
        if more >= LEAST_BYTES and id(value) not in seen:
            shared = heap.retained_bytes(label) < heap.own_bytes(label)
            others = heap.other_ways(label, ways) if shared else []
            grown.append(Grown(label, _native.type_name(value), more, others))
            seen.add(id(value))
    return sorted(grown, key=lambda held: held.bytes, reverse=True)[:most]


def _values(watcher: Watcher) -> Iterator[tuple[str, Any]]:
    """(label of the snapshot, value) of the user's names and of the output entries."""
    yield from user_values(watcher).items()
    for number, value in watcher.caches.entries().items():
        yield f"Out[{number}]", value
