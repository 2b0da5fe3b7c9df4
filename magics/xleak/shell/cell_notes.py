"""What a diagnosis wants to know of earlier cells, and what is gone once they have ended: where the time
of the long ones went, and which ran out of memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.fields import class_name
from xleak.shell.holders.timed_lines import seconds_by_place
from xleak.shell.line_kinds import Kind, line_kinds

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# A shorter cell has too few samples.
_LEAST_SECONDS = 1.0
# The latest count.
_MOST_CELLS = 8
_NAMES_OF_ERRORS = ("MemoryError", "OutOfMemoryError", "ResourceExhaustedError")
# How torch's allocator for the host says it, as a RuntimeError.
_HOST_ALLOCATOR = "can't allocate memory"


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
        self.out_of_memory: list[int] = []
        """Indexes of the cells that ended so."""

    def after_cell(self, index: int, shell: InteractiveShell) -> None:
        """Notes the cell that has just ended."""
        record = _native.record(index)
        if record is None:
            return
        if record.seconds >= _LEAST_SECONDS:
            lines, seconds = _native.line_times()
            if seconds >= _LEAST_SECONDS:
                self._times.append((index, lines, seconds))
        if record.status == "error" and _ran_out(shell.last_execution_result):
            self.out_of_memory.append(index)

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


def _ran_out(result: Any) -> bool:
    """By the type of the error; torch's allocator for the host says it in words alone."""
    error = None if result is None else result.error_in_exec
    if error is None:
        return False
    if class_name(type(error)) in _NAMES_OF_ERRORS:
        return True
    args: Any = BaseException.__dict__["args"]
    told: Any = args.__get__(error) if type(error) is RuntimeError else ()
    first = next(iter(told), "")
    return type(first) is str and _HOST_ALLOCATOR in first
