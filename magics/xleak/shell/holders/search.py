"""When the heap is searched for holders, and by whom."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.births import Birth, cause_of
from xleak.shell.heap import take_snapshot
from xleak.shell.holders.cell_watchers import CellWatchers
from xleak.shell.holders.doubled_peaks import peaked_again
from xleak.shell.holders.long_cells import LongCell
from xleak.shell.holders.look import Look, Reporter
from xleak.shell.holders.uses import first_name
from xleak.shell.loading import load
from xleak.shell.outputs import OutputFacts, kept_by_outputs

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.holders.signs import SourceSigns
    from xleak.shell.watcher import Watcher

# A cell that moved less leaves nothing to look for.
_SUSPECT_BYTES = 1 << 20
# Where a cell wants memory back, it matters whether it came.
_LETS_GO = re.compile(r"\bdel\b|=\s*None\b|\.(?:pop|clear|close)\(")
_REPORTERS = "xleak.shell.holders.reporters"
# Reading graphs ends when a request comes, not after a time, which would depend on the machine.
_GRAPHS_MS = 3_600_000.0
# The share of a name's memory from which on what is said of a part is said of the name.
_NEARLY_ALL = 0.9
_AT_STATEMENT = re.compile(r"(?:^|; )([^\W\d]\w*)")


class Holders:
    """The facts of the last search, and whether it is time for another."""

    def __init__(self) -> None:
        self.facts: list[_native.Holder] = []
        self.suspected = False
        """Whether the next look() searches."""
        self._watching = CellWatchers()
        self._reporters: list[Reporter] | None = None
        self._signs: SourceSigns | None = None
        """From the first search on, as the reporters."""
        self.outputs: list[OutputFacts] = []
        """What the entries of Out keep, by the last search."""
        self._outputs_moved = False
        self._long_cell = LongCell()
        self._running = ""
        """The source of the cell that runs or ran last."""
        self._sources: dict[int, str] = {}
        self._failed_cell: int | None = None
        self._error_keeps = False
        """Whether the last error may keep something."""
        self._crept_bytes = 0
        """What the cells since the last search have kept, each too little for one."""

    def before_cell(self, source: str, shell: InteractiveShell) -> None:
        """Notes what the cell is to let go of, and what was there before it."""
        self._running = source
        self._watching.before_cell(source, shell)

    def while_running(self, shell: InteractiveShell) -> list[_native.Holder]:
        """What the cell that runs does, without a search."""
        return list(self._long_cell(self._running, self._sources, shell))

    def after_cell(self, index: int, source: str, shell: InteractiveShell) -> None:
        """Looks at the cell's counters, and whether its code raised or lets go of something."""
        self._sources[index] = source
        result = shell.last_execution_result
        error = result.error_in_exec if result is not None else None
        noticed = self._watching.after_cell(index, self._sources, shell)
        if (
            (error is not None and self._has_failed(index, error, shell))
            or noticed
            or self._changed_much(index, source)
        ):
            self.suspect()

    def _has_failed(self, index: int, error: BaseException, shell: InteractiveShell) -> bool:
        """Whether an error may keep something, or takes the place of one that might."""
        self._failed_cell = index
        before = self._error_keeps
        self._error_keeps = _native.may_keep_memory(error, shell.user_ns)
        return before or self._error_keeps

    def _changed_much(self, index: int, source: str) -> bool:
        moved, kept, spike = _native.change_of(index)
        self._crept_bytes += kept
        if moved is None or max(moved, self._crept_bytes) >= _SUSPECT_BYTES:
            return True
        return bool(_LETS_GO.search(source)) or peaked_again(spike, index, self._sources)

    def _tell(
        self,
        heap: _native.HeapSnapshot,
        live: _native.LiveObjects,
        watcher: Watcher,
        index: int,
        interrupted: Callable[[], bool] | None,
    ) -> list[_native.Holder] | None:
        """None where it was interrupted. A reporter that is asked twice after one cell answers the same."""
        reporters = self._all_reporters(interrupted)
        if self._signs is None or not self._signs.read(self._sources, interrupted):
            return None
        look = Look(
            heap,
            live,
            watcher,
            index,
            self._failed_cell,
            self._sources,
            self._running,
            self.suspect,
        )
        for reporter in reporters:
            if interrupted is not None and interrupted():
                return None
            for holder in reporter(look):
                # What two could tell of is the first one's.
                look.reported.setdefault(holder.label, holder)
        return [_with_line(look, holder) for holder in look.reported.values()]

    def _all_reporters(self, interrupted: Callable[[], bool] | None) -> list[Reporter]:
        """None yet where it was interrupted: there is much to import."""
        if self._reporters is None:
            if interrupted is not None and not load(_REPORTERS, interrupted):
                return []
            from xleak.shell.holders.reporters import all_reporters
            from xleak.shell.holders.signs import SourceSigns

            self._signs = SourceSigns()
            self._reporters = all_reporters(self._watching, self._signs)
        return self._reporters

    def suspect(self) -> None:
        """Something may be kept: the next look() searches."""
        self.suspected = True

    def suspect_outputs(self) -> None:
        """An entry of Out may keep more than it did: the next look() asks what they keep."""
        self._outputs_moved = True

    def look(
        self,
        watcher: Watcher,
        index: int,
        interrupted: Callable[[], bool] | None,
    ) -> bool:
        """Searches the heap after cell `index`, where something is suspected. False: it takes
        another call."""
        if not (self.suspected or self._outputs_moved):
            return True
        heap = take_snapshot(watcher, None, interrupted, _GRAPHS_MS)
        if heap is None or (interrupted is not None and interrupted()):
            return False
        self._outputs_moved = False
        self.outputs = kept_by_outputs(watcher, heap)
        if not self.suspected:
            return True
        self.suspected = False
        # After the snapshot, to which it would be a holder of everything.
        with _native.LiveObjects() as live:
            facts = self._tell(heap, live, watcher, index, interrupted)
        if facts is None:
            self.suspect()
            return False
        self.facts = facts
        self._crept_bytes = 0
        return True


def _with_line(look: Look, holder: _native.Holder) -> _native.Holder:
    """With the cell and the line that made what a name holds, where the ledger knows them."""
    is_known = holder.line is not None or not holder.held_bytes
    cause = None if is_known else cause_of(look.watcher.shell, _births(look, holder))
    if holder.line is not None or cause is None or cause.line is None:
        return holder
    return _native.Holder(
        holder.kind,
        holder.label,
        holder.held_bytes,
        cause.cell,
        holder.largest,
        holder.count,
        holder.release,
        holder.shown_bytes,
        cause.line,
    )


def _births(look: Look, holder: _native.Holder) -> list[Birth]:
    """Of what a label holds; of what its first name does, where that is hardly more; of what is behind the expression,
    or behind what it fills; of what the names hold together that the repair reaches."""
    from xleak.shell.holders.repairs import object_at

    heap, label = look.heap, holder.label
    name = first_name(label)
    births = heap.births(label)
    if not births and heap.retained_bytes(name) * _NEARLY_ALL <= holder.held_bytes:
        births = heap.births(name)
    for way in (label, holder.largest):
        there = None if births else object_at(look, way)
        births = births if there is None else heap.elements(there)[1]
    names = {name, *_AT_STATEMENT.findall(holder.release)}
    return births or heap.births_together(sorted(names))
