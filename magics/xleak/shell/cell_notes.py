"""Where the time of the long ones of earlier cells went, which is gone once the next one runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xleak import _native
from xleak.originals import time
from xleak.shell.holders.timed_lines import seconds_by_place
from xleak.shell.line_kinds import Kind, line_kinds
from xleak.shell.readings import python_count

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# A shorter cell has too few samples.
_LEAST_SECONDS = 1.0
# The latest count.
_MOST_CELLS = 8


@dataclass(frozen=True)
class CellTime:
    """Where the time of a cell of a second or more went, by samples: seconds."""

    cell: int
    seconds: float
    by_kind: Mapping[Kind, float]
    longest: Mapping[Kind, tuple[int, int]]
    """(cell, line) with most of it."""

    def share(self, kind: Kind) -> float:
        """Of the cell's time, from 0 to 1."""
        return min(1.0, self.by_kind.get(kind, 0.0) / self.seconds)


class CellNotes:
    """Taken after each cell; what they mean is worked out when it is asked for."""

    def __init__(self) -> None:
        self._times: deque[tuple[int, list[tuple[str, int, float]], float]] = deque(
            maxlen=_MOST_CELLS
        )

    def after_cell(self, index: int) -> None:
        """Notes the cell that has just ended."""
        # Nearly all cells are shorter, and each one waits for this.
        if time.perf_counter() - python_count.began < _LEAST_SECONDS:
            return
        record = _native.record(index)
        if record is not None and record.seconds >= _LEAST_SECONDS:
            lines, seconds = _native.line_times()
            if seconds >= _LEAST_SECONDS:
                self._times.append((index, lines, seconds))

    def cell_times(self, sources: Mapping[int, str], shell: InteractiveShell) -> list[CellTime]:
        """Of the latest long cells, oldest first. sources: what the cells were, by index."""
        if not sources:
            return []
        kinds = {index: line_kinds(text) for index, text in sources.items()}
        return [_told(note, kinds, sources, shell) for note in self._times]


def _told(
    note: tuple[int, list[tuple[str, int, float]], float],
    kinds: Mapping[int, Mapping[int, Kind]],
    sources: Mapping[int, str],
    shell: InteractiveShell,
) -> CellTime:
    index, lines, seconds = note
    by_kind: dict[Kind, float] = {}
    most: dict[Kind, tuple[float, tuple[int, int]]] = {}
    for (cell, line), spent in seconds_by_place(lines, sources, shell).items():
        kind = kinds.get(cell, {}).get(line)
        if kind is not None:
            by_kind[kind] = by_kind.get(kind, 0.0) + spent
            most[kind] = max(most.get(kind, (0.0, (0, 0))), (spent, (cell, line)))
    return CellTime(index, seconds, by_kind, {kind: place for kind, (_, place) in most.items()})
