"""Who holds the memory that an allocator did not have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.postmortem import LEAST_BYTES, HeldByName, KeptByCell, Postmortem
from xleak.shell.heap import take_snapshot, user_names
from xleak.shell.holders.last_traceback import in_words
from xleak.shell.out_of_memory.advice import Situation, advice
from xleak.shell.out_of_memory.errors import HOST, Refusal
from xleak.shell.out_of_memory.evidence import Evidence, evidence
from xleak.shell.out_of_memory.host_memory import Room, room
from xleak.shell.outputs import kept_by_outputs
from xleak.shell.readings import DeviceReading, device_readings
from xleak.shell.tracebacks import LAST_TRACEBACK
from xleak.shell.watcher import printable

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

# More would hide the first ones.
_MOST = 5
# The user has just lost a cell, and waits to read why.
_SEARCH_MS = 2000.0
# Parts of them that are added up by the local that leads to them.
_PARTS = 500
_LOCAL = re.compile(r"local \w+")


def state(allocator: str, below: Room | None = None) -> tuple[Refusal, str]:
    """What an allocator says of itself now, and the name of the limit that `free` and `total` are of.

    below: what was free of the host's memory, where that was before now."""
    if allocator != HOST:
        return _of_device(allocator), ""
    below = below or room()
    allocated: int | None
    reserved: int | None
    try:
        heap = _native.heap()
        allocated, reserved = heap.used_bytes, heap.used_bytes + heap.free_bytes
    except _native.MonitorError:
        allocated = reserved = None
    if below is None:
        return Refusal(HOST, None, None, allocated, reserved), ""
    return Refusal(HOST, None, below.free, allocated, reserved, below.total), below.limit


def _of_device(allocator: str) -> Refusal:
    readings = device_readings()
    of_kind = [it for it in readings if it.device.partition(":")[0] == allocator]
    # Where an error does not number the device, the only one of its kind is meant.
    exact = [it for it in readings if it.device == allocator] or of_kind
    if len(exact) != 1:
        return Refusal(allocator)
    read: DeviceReading = exact[0]
    return Refusal(read.device, None, None, read.allocated, read.reserved, read.total)


class Search:
    """One look at the heap for what an allocator's memory is held by."""

    def __init__(self, watcher: Watcher, allocator: str) -> None:
        """Raises MemoryError where there is no room for it."""
        self._watcher = watcher
        self._allocator = allocator
        self.heap = take_snapshot(watcher, _SEARCH_MS)

    def held(self, label: str) -> int | None:
        """What would be freed with a label; None where the search took too long."""
        if self.heap is None:
            return None
        devices = self.heap.retained_by_device(label)
        if self._allocator != HOST:
            return devices.get(self._allocator, 0)
        elsewhere = sum(size for device, size in devices.items() if device != "cpu")
        return self.heap.retained_bytes(label) - elsewhere

    def names(self) -> list[HeldByName]:
        """The user's names that hold most."""
        held = [(self.held(name) or 0, name) for name in user_names(self._watcher)]
        held = sorted((it for it in held if it[0] >= LEAST_BYTES), reverse=True)
        return [HeldByName(printable(name), size) for size, name in held[:_MOST]]

    def locals(self) -> list[HeldByName]:
        """The largest of what the frames of the last traceback alone hold."""
        if self.heap is None or (self.held(LAST_TRACEBACK) or 0) < LEAST_BYTES:
            return []
        sizes: Counter[str] = Counter()
        for way, size in self.heap.largest(LAST_TRACEBACK, _PARTS):
            local = _LOCAL.match(words := in_words(way))
            sizes[printable(local.group() if local else words)] += size
        return [
            HeldByName(name, size) for name, size in sizes.most_common(_MOST) if size >= LEAST_BYTES
        ]

    def orphans(self) -> list[tuple[str, int]]:
        """(`Out[n]`, bytes) of the output entries that nobody uses."""
        caches = self._watcher.caches
        if self.heap is None:
            return []
        owners = {"malloc", "pymalloc", "arrow", "tensorflow"}
        shown, recent = caches.values(scalars=True), caches.recent()
        wanted = owners if self._allocator == HOST else {self._allocator}
        sizes = [
            (entry, sum(size for owner, size in entry.held.items() if owner in wanted))
            for entry in kept_by_outputs(self._watcher, self.heap)
            if entry.number in shown and id(shown[entry.number]) not in recent
        ]
        return [(f"Out[{it.number}]", size) for it, size in sizes if size >= LEAST_BYTES]


def growth(allocator: str, failed: Container[int]) -> list[KeptByCell]:
    """The cells that had grown most when they ended. failed: those whose frames were let go of."""
    kept = []
    for record in _native.records():
        size = _kept(record, allocator)
        if record.status == "running" or record.is_own or record.index in failed:
            continue
        if size is not None and size >= LEAST_BYTES:
            kept.append(KeptByCell(record.index, size))
    return sorted(kept, key=lambda it: it.kept_bytes, reverse=True)[:_MOST]


def _kept(record: _native.CellRecord, allocator: str) -> int | None:
    if allocator != HOST:
        uses = [use for use in record.devices if use.device == allocator]
        return uses[0].allocated_kept_bytes if uses else None
    before, after = record.resident_before_bytes, record.resident_after_bytes
    return None if before is None or after is None else after - before


def postmortem(
    watcher: Watcher,
    index: int,
    refusal: Refusal,
    below: Room | None,
    frames: list[FrameType],
    search: Search | None,
) -> Postmortem:
    """What is known of the failure of a cell. below: what the host had then. search: None where there
    was no room for one."""
    now, limit = state(refusal.allocator, below)
    if refusal.in_worker:
        # What a worker had, it had for itself.
        now = replace(now, free=None, allocated=None, reserved=None)
    on = Situation(
        now.allocator,
        refusal.asked,
        refusal.total or now.total,
        refusal.allocated if refusal.allocated is not None else now.allocated,
        refusal.reserved if refusal.reserved is not None else now.reserved,
    )
    free = refusal.free if refusal.free is not None else now.free
    names = search.names() if search else []
    failing = search.held(LAST_TRACEBACK) if search else None
    free_soon, fix = releasable(search, now)
    return Postmortem(
        sentence=_sentence(name_of_run(index), on, free, limit, refusal),
        allocator=on.allocator,
        asked_bytes=on.asked,
        free_bytes=free,
        allocated_bytes=on.allocated,
        reserved_bytes=on.reserved,
        fragmented_bytes=_difference(on.reserved, on.allocated),
        cells=growth(on.allocator, {*watcher.postmortems, index}),
        names=names,
        locals=search.locals() if search else [],
        failing_cell_bytes=failing,
        releasable_bytes=free_soon,
        fix=fix,
        advice=advice(on, _evidence(on.allocator, frames), next(iter(names), None)),
    )


def _evidence(allocator: str, frames: list[FrameType]) -> Evidence:
    try:
        return evidence(allocator, frames)
    except MemoryError:
        return Evidence()


def _difference(reserved: int | None, allocated: int | None) -> int | None:
    return None if reserved is None or allocated is None else max(0, reserved - allocated)


def _sentence(cell: str, on: Situation, free: int | None, limit: str, refusal: Refusal) -> str:
    where = "the host" if on.allocator == HOST else on.allocator
    who = f"A DataLoader's worker of {cell}" if refusal.in_worker else cell.capitalize()
    if refusal.by_guard:
        said = f"The guard stopped {cell} before {where} was out of memory"
    elif on.asked is None:
        said = f"{who} ran out of memory on {where}"
    else:
        said = f"{who} asked {where} for {_native.human(on.asked)}"
    if free is not None:
        said = f"{said}; {_native.human(free)} was free {limit}".rstrip()
    if on.asked is None and not refusal.by_guard:
        said += "; the error does not tell how much was asked for"
    return f"{said}."


def releasable(search: Search | None, now: Refusal) -> tuple[int | None, str | None]:
    """(bytes that no name reaches, the magic that gives them back) as of now."""
    traceback = search.held(LAST_TRACEBACK) if search else None
    if search is None or traceback is None:
        return None, None
    outputs = search.orphans()
    # The C heap's own free pages are no gain: the next allocation has them anyway.
    cached = 0 if now.allocator == HOST else _difference(now.reserved, now.allocated) or 0
    total = traceback + cached + sum(size for _, size in outputs)
    if total < LEAST_BYTES:
        return total, None
    alone = len(outputs) == 1 and traceback + cached < LEAST_BYTES
    return total, f"%xdel {outputs[0][0]}" if alone else "%release_cache"
