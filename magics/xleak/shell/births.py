"""The cell and the line of the user's source that made memory, by the ledger of large blocks."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.source import last_line, lines_left_out

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_IMPORTS = ("import ", "from ")

# (cell, (file, line, function), bytes), as HeapSnapshot gives them.
Birth = tuple[int, tuple[str, int, str] | None, int]


@dataclass(frozen=True)
class Cause:
    """cell: index of the cell in which the line stands, which may be a function that another cell calls. line: None
    where no line of the user's ran."""

    cell: int
    line: int | None


def cause_of(shell: InteractiveShell, births: Sequence[Birth]) -> Cause | None:
    """Where most of it was made; None where the ledger does not know."""
    if not births:
        return None
    by_cell: dict[int, int] = {}
    causes = causes_of(shell, births)
    for cause, size in causes:
        by_cell[cause.cell] = by_cell.get(cause.cell, 0) + size
    largest = max(by_cell, key=lambda cell: by_cell[cell])
    return next(cause for cause, _ in causes if cause.cell == largest)


def causes_of(shell: InteractiveShell, births: Sequence[Birth]) -> list[tuple[Cause, int]]:
    """(cause, bytes) of each."""
    return [(_cause(shell, cell, place), size) for cell, place, size in births]


def is_import(place: tuple[str, int, str] | None) -> bool:
    """Whether an import statement stands in the line: what libraries make while they are imported is theirs."""
    return place is not None and linecache.getline(*place[:2]).lstrip().startswith(_IMPORTS)


def lines_before(shell: InteractiveShell, count: int | None) -> int:
    """Lines of In[count] before the first that Python counts."""
    typed = shell.history_manager.input_hist_raw if shell.history_manager else []
    return lines_left_out(typed[count]) if count is not None and count < len(typed) else 0


def shown_line(shell: InteractiveShell, count: int) -> int | None:
    """The line of In[count] whose value is Out[count]."""
    typed = shell.history_manager.input_hist_raw if shell.history_manager else []
    return last_line(typed[count]) if count < len(typed) else None


def _cause(shell: InteractiveShell, cell: int, place: tuple[str, int, str] | None) -> Cause:
    counts = vars(shell.compile).get("_filename_map", {})
    count = counts.get(place[0]) if place is not None else None
    if place is None or count is None:
        return Cause(cell, None)
    typed = shell.history_manager.input_hist_raw if shell.history_manager else []
    # A function may stand in an earlier cell than the one that called it. All runs of one code have one file, whose
    # number is the last one's.
    for index in range(cell, 0, -1):
        record = _native.record(index)
        own = record.execution_count if record is not None else None
        if own is not None and (own == count or _is_same(typed, own, count)):
            return Cause(index, place[1] + lines_before(shell, count))
    return Cause(cell, None)


def _is_same(typed: Sequence[str], one: int, other: int) -> bool:
    return max(one, other) < len(typed) and typed[one] == typed[other]
