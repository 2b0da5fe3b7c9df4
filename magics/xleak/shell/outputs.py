"""What the entries of the output cache keep: what would come back, their graphs and all else that they
alone retain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.heap import tool_slots

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

# Less never becomes a finding.
_LEAST_BYTES = 64 << 10
# The monitor counts cells in 32 bits.
_CELL_BITS = 32


@dataclass(frozen=True)
class OutputFacts:
    """What one entry keeps that no name reaches. Sizes in bytes.

    held: by allocator. holders: every reference of the shell's to its value. together: the entries that
    have to go with it, where others retain the same memory.
    """

    number: int
    held: dict[str, int]
    type_name: str
    holders: list[str]
    together: list[int]

    @property
    def held_bytes(self) -> int:
        return sum(self.held.values())


def kept_by_outputs(
    watcher: Watcher, heap: _native.HeapSnapshot, gone: Iterable[str] = ()
) -> list[OutputFacts]:
    """Those that keep much. What several retain counts with the first of them. gone: labels of the heap
    that are released before."""
    if watcher.caches.unused:
        return []
    values = watcher.caches.values()
    entries = dict(_unused_entries(watcher, values))
    named = _first_labels(values, entries)
    order = sorted(named, key=lambda label: named[label])
    shares = heap.shares(order, [*gone, *(label for _, _, label in tool_slots(watcher))])
    large = [
        (named[label], held, [named[order[other]] for other in others])
        for label, (held, others) in zip(order, shares, strict=True)
        if sum(held.values()) >= _LEAST_BYTES
    ]
    holders = _holders(watcher, {id(entries[number]) for number, _, _ in large})
    return [
        OutputFacts(number, held, _native.type_name(value), holders[id(value)], together)
        for number, held, together in large
        for value in [entries[number]]
    ]


def _unused_entries(watcher: Watcher, values: dict[int, Any]) -> Iterator[tuple[int, Any]]:
    """Those that no cell mentions, by themselves or by another entry of the same value. A number that no
    cell can have is a key of the user's own."""
    used = {id(values[number]) for number in watcher.mentioned if number in values}
    for number, value in values.items():
        if number.bit_length() < _CELL_BITS and id(value) not in used:
            yield number, value


def _first_labels(values: dict[int, Any], entries: dict[int, Any]) -> dict[str, int]:
    """The label of each of the entries in a snapshot, by the first number that its value has."""
    first: dict[int, int] = {}
    for number, value in values.items():
        first.setdefault(id(value), number)
    return {f"Out[{first[id(value)]}]": number for number, value in reversed(entries.items())}


def _holders(watcher: Watcher, ids: set[int]) -> dict[int, list[str]]:
    """By the id of a value every reference of the shell's to it, and of tools."""
    if not ids:
        return {}
    tools = [(label, names[name]) for names, name, label in tool_slots(watcher)]
    holders: dict[int, dict[str, None]] = {}
    for label, value in [*watcher.caches.slots(scalars=False), *tools]:
        if id(value) in ids:
            holders.setdefault(id(value), {})[label] = None
    return {known: list(labels) for known, labels in holders.items()}
