"""What the entries of the output cache keep: what would come back, their graphs and all else that they
alone retain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.caches import is_scalar
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
    labels, entries = watcher.caches.labels(), dict(_unused_entries(watcher))
    named = {labels[id(value)]: number for number, value in reversed(entries.items())}
    order = sorted(named, key=lambda label: named[label])
    shares = heap.shares(order, [*gone, *(label for _, _, label in tool_slots(watcher))])
    facts = []
    for label, (held, others) in zip(order, shares, strict=True):
        if sum(held.values()) >= _LEAST_BYTES:
            number, together = named[label], [named[order[other]] for other in others]
            facts.append(_facts(watcher, number, entries[number], held, together))
    return facts


def _unused_entries(watcher: Watcher) -> Iterator[tuple[int, Any]]:
    """Those that no cell mentions, by themselves or by another entry of the same value. A number that no
    cell can have is a key of the user's own."""
    values = watcher.caches.values()
    used = {id(values[number]) for number in watcher.mentioned if number in values}
    for number, value in values.items():
        is_of_a_cell = number.bit_length() < _CELL_BITS
        if is_of_a_cell and id(value) not in used and not is_scalar(value):
            yield number, value


def _facts(
    watcher: Watcher, number: int, value: Any, held: dict[str, int], together: list[int]
) -> OutputFacts:
    tools = [(label, names[name]) for names, name, label in tool_slots(watcher)]
    places = [*watcher.caches.slots(), *tools]
    holders = list(dict.fromkeys(label for label, kept in places if kept is value))
    return OutputFacts(number, held, _native.type_name(value), holders, together)
