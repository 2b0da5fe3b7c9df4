"""Which lines made what is alive, and what was alive at the peaks, by the ledger of large blocks."""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.births import lines_before
from xleak.shell.ledger import why_lines_are_unknown

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# File and line.
_Place = tuple[str, int]


@dataclass(frozen=True)
class LineUse:
    """One line of the user's. Sizes in bytes, of blocks of 64 KiB and more.

    cell: n of In[n], None for a line of a module. kept: made there and alive. peak: the most of it
    that was alive at the peak of a cell.
    """

    cell: int | None
    file: str
    line: int
    source: str
    kept_bytes: int
    peak_bytes: int


@dataclass(frozen=True)
class LineAccount:
    """lines: most kept first. other: kept bytes that cells made where no line of the user's ran."""

    lines: list[LineUse]
    other_kept_bytes: int


def account_of_lines(shell: InteractiveShell) -> LineAccount:
    """What the lines of the session keep and kept. Raises MonitorError where the ledger is off."""
    if reason := why_lines_are_unknown():
        raise _native.MonitorError(f"The lines that made memory are not known: {reason}")
    kept: dict[_Place, int] = {}
    other = 0
    for block in _native.living_blocks():
        if block.kind == "python_arena" or not block.cell:
            continue
        if block.site is None:
            other += block.bytes
        else:
            place = block.site[:2]
            kept[place] = kept.get(place, 0) + block.bytes
    peaks = _peaks(_native.records())
    cells = vars(shell.compile).get("_filename_map", {})
    lines = [
        LineUse(
            cells.get(file),
            file,
            line + lines_before(shell, cells.get(file)),
            linecache.getline(file, line).strip(),
            kept.get((file, line), 0),
            peaks.get((file, line), 0),
        )
        for file, line in kept | peaks
    ]
    lines.sort(key=lambda it: (-it.kept_bytes, -it.peak_bytes))
    return LineAccount(lines, other)


def _peaks(records: Iterable[_native.CellRecord]) -> dict[_Place, int]:
    """By place the most that one cell had at its peak."""
    peaks: dict[_Place, int] = {}
    for record in records:
        of_cell: dict[_Place, int] = {}
        for file, line, size in record.at_peak:
            of_cell[file, line] = of_cell.get((file, line), 0) + size
        for place, size in of_cell.items():
            peaks[place] = max(peaks.get(place, 0), size)
    return peaks
