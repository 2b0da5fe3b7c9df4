"""When the heap is searched for holders, and by whom."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.heap import take_snapshot
from xleak.shell.holders.exceptions import exceptions
from xleak.shell.holders.figures import open_figures
from xleak.shell.holders.forward_attributes import ForwardAttributes
from xleak.shell.holders.graphs import ContainersOfGraphs
from xleak.shell.holders.growth import GrowingContainers
from xleak.shell.holders.last_traceback import last_traceback
from xleak.shell.holders.look import Look, Teller
from xleak.shell.holders.method_caches import method_caches
from xleak.shell.holders.mutable_defaults import MutableDefaults
from xleak.shell.holders.registries import Registries
from xleak.shell.holders.replay_memories import ReplayMemories
from xleak.shell.holders.signs import SourceSigns
from xleak.shell.holders.unbounded_caches import UnboundedCaches

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.watcher import Watcher

# A cell that moved less leaves nothing to look for.
_SUSPECT_BYTES = 1 << 20
# Where a cell wants memory back, it matters whether it came.
_LETS_GO = re.compile(r"\bdel\b|=\s*None\b|\.(?:pop|clear|close)\(")
# Graphs cannot be left and taken up again: so much of the time before a reply, or of a pause.
_GRAPHS_MS = 10.0
_ALL_GRAPHS_MS = 1000.0


class Holders:
    """The facts of the last search, and whether it is time for another."""

    def __init__(self) -> None:
        self.facts: list[_native.Holder] = []
        self.suspected = False
        """Whether the next look() searches."""
        signs = SourceSigns()
        self._tellers: list[Teller] = [
            last_traceback,
            method_caches,
            exceptions,
            open_figures,
            ReplayMemories(signs),
            ContainersOfGraphs(),
            MutableDefaults(signs),
            Registries(signs),
            ForwardAttributes(signs),
            GrowingContainers(signs),
            UnboundedCaches(signs),
        ]
        self._sources: dict[int, str] = {}
        self._failed_cell: int | None = None
        self._crept_bytes = 0
        """What the cells since the last search have kept, each too little for one."""
        self._cost_ms = 0.0

    def after_cell(self, index: int, source: str, shell: InteractiveShell) -> None:
        """Looks at the cell's counters, and whether its code raised or lets go of something."""
        self._sources[index] = source
        result = shell.last_execution_result
        failed = result is not None and result.error_in_exec is not None
        if failed:
            self._failed_cell = index
        self._crept_bytes += _kept_bytes(index)
        if self._crept_bytes >= _SUSPECT_BYTES:
            self.suspect()
        moved = _native.moved_bytes(index)
        if failed or moved is None or moved >= _SUSPECT_BYTES or _LETS_GO.search(source):
            self.suspect()

    def _tell(
        self,
        heap: _native.HeapSnapshot,
        live: _native.LiveObjects,
        watcher: Watcher,
        index: int,
    ) -> list[_native.Holder]:
        look = Look(heap, live, watcher, index, self._failed_cell, self._sources, self.suspect)
        told: dict[str, _native.Holder] = {}
        for teller in self._tellers:
            for holder in teller(look):
                # What two could tell of is the first one's.
                told.setdefault(holder.label, holder)
        return list(told.values())

    def suspect(self) -> None:
        """Something may be kept: the next look() searches."""
        self.suspected = True

    def look(
        self,
        watcher: Watcher,
        index: int,
        deadline_ms: float | None,
        interrupted: Callable[[], bool] | None,
    ) -> bool:
        """Searches the heap after cell `index`, where something is suspected. False: it takes
        another call."""
        if not self.suspected:
            return True
        if deadline_ms is not None and self._cost_ms > deadline_ms:
            return False
        start = time.perf_counter()
        somebody_waits = deadline_ms is not None or interrupted is not None
        graphs_ms = _GRAPHS_MS if somebody_waits else _ALL_GRAPHS_MS
        heap = take_snapshot(watcher, deadline_ms, interrupted, graphs_ms)
        if heap is not None:
            self.suspected = False
            self._crept_bytes = 0
            # After the snapshot, to which it would be a holder of everything.
            with _native.LiveObjects() as live:
                self.facts = self._tell(heap, live, watcher, index)
        self._cost_ms = (time.perf_counter() - start) * 1000
        return heap is not None


def _kept_bytes(index: int) -> int:
    record = _native.record(index)
    return (record.heap_kept_bytes or 0) if record else 0
