"""The lines that a session shows of its leaks: one for each cell with a new finding."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.render.escape import escape
from xleak.shell.cell_outputs import CellOutputs, Header, place_of, show

# More entries would not fit on a line.
_ENTRIES_SHOWN = 3
# Older ones stay as they are.
_MOST_LINES = 100

# (rule, key, index of the cell after which it is there): the same leak at a later cell is a new one.
_Key = tuple[str, str, int]


@dataclass
class _Line:
    display_id: str
    keys: frozenset[_Key]
    place: Header | None
    """None: where the output of the running cell was."""
    text: str


class Notice:
    """Shows each finding once, in the line of its cell, and keeps that line up to date."""

    def __init__(self, outputs: CellOutputs) -> None:
        self._outputs = outputs
        self._lines: deque[_Line] = deque(maxlen=_MOST_LINES)
        self._told: dict[_Key, None] = {}

    def tell(self, findings: list[_native.Finding], least_bytes: int, *, in_cell: bool) -> bool:
        """Shows what is worth a line and changes the lines of what has changed.

        in_cell: a cell runs, whose output reaches every client. False: something waits for the next cell.
        """
        known = {_key(found): found for found in findings}
        self._told = {key: None for key in self._told if key in known}
        updated = [self._update(line, known, in_cell) for line in self._lines]
        shown = {key for line in self._lines for key in line.keys} | self._told.keys()
        new = {key: found for key, found in known.items() if key not in shown}
        groups = _groups(new.values(), least_bytes)
        return all([*updated, *(self._show(group, in_cell) for group in groups)])

    def _show(self, findings: list[_native.Finding], in_cell: bool) -> bool:
        place = place_of(self._outputs, max(found.cell for found in findings))
        if place is None and not in_cell:
            return False
        keys = frozenset(map(_key, findings))
        line = _Line(f"xleak-{uuid.uuid4().hex}", keys, place, notice_text(findings))
        self._publish(line, update=False)
        self._told |= dict.fromkeys(keys)
        self._lines.append(line)
        return True

    def _update(self, line: _Line, known: dict[_Key, _native.Finding], in_cell: bool) -> bool:
        text = notice_text([found for key, found in known.items() if key in line.keys])
        if text == line.text or not self._outputs.can_update:
            return True
        if line.place is None and not in_cell:
            return False
        line.text = text
        self._publish(line, update=True)
        return True

    def _publish(self, line: _Line, *, update: bool) -> None:
        data = {"text/plain": line.text, "text/html": f"<code>{escape(line.text)}</code>"}
        show(self._outputs, line.place, data, line.display_id, update)


def _key(found: _native.Finding) -> _Key:
    return found.code, found.key, found.cell


def _groups(new: Iterable[_native.Finding], least_bytes: int) -> list[list[_native.Finding]]:
    """Findings that share a line: those of a cell that are worth one, in the order of the cells; the
    others together once they are."""
    by_cell: dict[int, list[_native.Finding]] = {}
    for found in new:
        by_cell.setdefault(found.cell, []).append(found)
    worth = {cell for cell, group in by_cell.items() if _bytes(group) >= least_bytes}
    small = [found for cell, group in by_cell.items() if cell not in worth for found in group]
    groups = [by_cell[cell] for cell in sorted(worth)]
    return [*groups, small] if small and _bytes(small) >= least_bytes else groups


def _bytes(findings: list[_native.Finding]) -> int:
    return sum(found.bytes or 0 for found in findings)


def notice_text(findings: list[_native.Finding]) -> str:
    """One line: what leaks, the largest first, and what to type."""
    if not findings:
        return "xleak: what was reported here has been released."
    if len(findings) == 1:
        cell = findings[0].cause_cell or findings[0].cell
        return f"xleak {findings[0].code} {name_of_run(cell)}: {findings[0].message}"
    total = _native.human(_bytes(findings))
    first = findings[:_ENTRIES_SHOWN]
    shown = ", ".join(f"{f.key} {_native.human(f.bytes)}" for f in first if f.bytes is not None)
    rest = f" and {more} more" if (more := len(findings) - _ENTRIES_SHOWN) > 0 else ""
    codes = ", ".join(sorted({finding.code for finding in findings}))
    free = f"Free the largest with `{findings[0].fixes[0].code}`; " if findings[0].fixes else ""
    return (
        f"xleak {codes}: {total} that no name reaches, kept by {shown}{rest}. "
        f"{free}`%leakcheck` lists them."
    )
