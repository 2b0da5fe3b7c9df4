"""Worker processes of torch's data loaders that nobody asks for batches any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.descendants import proportional_bytes
from xleak.shell.fields import instances
from xleak.shell.holders import children
from xleak.shell.holders.look import Look, may_be_released

LOADER = "torch.utils.data.dataloader"
# After so many cells without a batch an iteration was broken off, not paused.
IDLE_CELLS = 2
# What `del` takes without asking what it is: no item of a list or a tuple.
_DELETABLE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*|\['[^'\\]*'\])*")


@dataclass(frozen=True)
class _Seen:
    """How far an iteration was at the last look, and after which cell it came there."""

    batches: int
    cell: int


class IdleWorkers:
    """Iterators of loaders that a name leads to, whose workers wait for nothing."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those that gave no batch during the last cells."""
        before, self._seen = self._seen, {}
        for way, fields in _named_iterators(look):
            if way in look.explained:
                continue
            batches = fields.get("_num_yielded")
            pids = alive(fields)
            if type(batches) is not int or not pids:
                continue
            seen = before.get(way)
            if seen is None or seen.batches != batches:
                seen = _Seen(batches, look.cell)
            self._seen[way] = seen
            if look.cell - seen.cell < IDLE_CELLS:
                look.search_again()
                continue
            size = sum(proportional_bytes(pid) for pid in pids)
            since, release = seen.cell, f"del {way}"
            yield _native.Holder("workers", way, size, since, "worker process", len(pids), release)


def _named_iterators(look: Look) -> Iterator[tuple[str, dict[str, Any]]]:
    """(expression, attributes) of the iterators that go with a name of the user's: not those that
    a loader keeps for its next epoch."""
    loaders = [fields for _, fields in instances(look.live, LOADER, "DataLoader")]
    reused = {id(fields.get("_iterator")) for fields in loaders}
    for it, fields in instances(look.live, LOADER, "_MultiProcessingDataLoaderIter"):
        way = look.heap.way_to(it) if id(it) not in reused else ""
        if may_be_released(way) and _DELETABLE.fullmatch(way):
            yield way, fields


def alive(fields: dict[str, Any]) -> list[int]:
    """The process ids of the workers that run."""
    workers = fields.get("_workers")
    pids = {id(it): pid for pid, it, _ in children.processes()}
    return [pids[id(it)] for it in _native.values_of(workers) if id(it) in pids]
