"""What the entries of the output cache keep: what would come back, their graphs and all else that they
alone retain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.heap import tool_slots, tool_values

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

# Less never becomes a finding.
_LEAST_BYTES = 64 << 10


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
    entries = watcher.caches.unmentioned(watcher.mentioned)
    labels = [f"Out[{number}]" for number, _ in entries]
    tools = [label for _, _, label in tool_slots(watcher)]
    large = heap.shares(labels, [*gone, *tools], _LEAST_BYTES)
    holders = _holders(watcher, {id(entries[place][1]) for place, _, _ in large})
    return [
        OutputFacts(
            entries[place][0],
            held,
            _native.type_name(entries[place][1]),
            holders.get(id(entries[place][1]), []),
            [entries[other][0] for other in others],
        )
        for place, held, others in large
    ]


def _holders(watcher: Watcher, ids: set[int]) -> dict[int, list[str]]:
    """By the id of a value every reference of the shell's to it, and of tools."""
    if not ids:
        return {}
    holders: dict[int, dict[str, None]] = {}
    for label, value in chain(watcher.caches.slots(scalars=False), tool_values(watcher)):
        if id(value) in ids:
            holders.setdefault(id(value), {})[label] = None
    return {known: list(labels) for known, labels in holders.items()}
