"""Lines whose time shows whether what the source says of them matters."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xleak import _native, source
from xleak.cell_names import name_of_run
from xleak.shell.fields import loaded_class
from xleak.shell.holders.look import Look
from xleak.shell.holders.places import value_at
from xleak.shell.holders.reruns import identity_of
from xleak.shell.source import lines_left_out

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_KINDS = {
    "XL116": "strided view",
    "XL605": "device transfer",
    "XL609": "device sync",
    "XL610": "loader wait",
}
# Without a device nobody waits for one.
_OF_DEVICES = {"XL605", "XL609", "XL610"}
# Nobody waits for a shorter cell, and it has too few samples.
_LEAST_SECONDS = 1.0

# Without any of them no view is strided.
_VIEWS = re.compile(r"\.(?:t\(|(?:T|mT|permute|transpose|movedim|swapaxes)\b)")
# More source takes longer to read than a reply may wait: the latest cells count.
_MOST_SOURCE = 100_000

# (index of the cell, its line).
_Place = tuple[int, int]


@dataclass(frozen=True)
class Timed:
    """What the source says of lines that the cell was seen in."""

    found: _native.Finding
    cause_cell: int
    label: str
    """Of the line with most of the time, in words."""
    seconds: float
    share: float
    """Of the time of the cell."""


class TimedLines:
    """Told until their cell runs again."""

    def __init__(self) -> None:
        self._told: dict[str, list[_native.Holder]] = {}
        """By the identity of the cell."""

    def after_cell(self, index: int, sources: Mapping[int, str], shell: InteractiveShell) -> bool:
        """Whether there is something else to tell than before the cell."""
        is_long = "torch" in sys.modules and _native.line_times()[1] >= _LEAST_SECONDS
        if not is_long and not self._told:
            return False
        identity = identity_of(index, sources[index])
        before = self._told.pop(identity, [])
        if is_long and (holders := list(_holders(index, latest(sources), shell))):
            self._told[identity] = holders
        return bool(before) or identity in self._told

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each place that the source tells of."""
        for holders in self._told.values():
            yield from holders


def timed_findings(sources: Mapping[int, str], shell: InteractiveShell) -> Iterator[Timed]:
    """Of the cell that runs or ran last. sources: of the cells to be read, that one included."""
    lines, all_seconds = _native.line_times()
    spent = seconds_by_place(lines, sources, shell)
    cells = sorted(sources)
    for found in source.lint_cells([sources[cell] for cell in cells]).report.findings:
        spans = [(cells[cell - 1], *lines) for cell, *lines in found.timed_lines if cell > 0]
        there = {
            (cell, line): seconds
            for (cell, line), seconds in spent.items()
            if any(cell == its and first <= line <= last for its, first, last in spans)
        }
        if there:
            cell, line = max(there, key=lambda place: there[place])
            # A line and one that it calls may both be told of.
            seconds = min(sum(there.values()), all_seconds)
            label = f"line {line} of {name_of_run(cell)}"
            yield Timed(found, cells[found.cell - 1], label, seconds, seconds / all_seconds)


def latest(sources: Mapping[int, str]) -> dict[int, str]:
    """Of each cell its last run, and of all together the latest."""
    last = {identity_of(cell, text): cell for cell, text in sources.items()}
    kept: dict[int, str] = {}
    size = 0
    for cell in sorted(last.values(), reverse=True):
        size += len(sources[cell])
        if kept and size > _MOST_SOURCE:
            break
        kept[cell] = sources[cell]
    return kept


def seconds_by_place(
    lines: list[tuple[str, int, float]], sources: Mapping[int, str], shell: InteractiveShell
) -> dict[_Place, float]:
    """Seconds by place. IPython knows by what number the code of a file was run."""
    numbers = vars(shell.compile).get("_filename_map", {})
    cells = {record.execution_count or 0: record.index for record in _native.records()}
    places: dict[_Place, float] = {}
    for file, line, seconds in lines:
        cell = cells.get(numbers.get(file, 0), 0)
        if cell in sources:
            places[cell, line + lines_left_out(sources[cell])] = seconds
    return places


def _holders(
    index: int, sources: Mapping[int, str], shell: InteractiveShell
) -> Iterator[_native.Holder]:
    has_device = _uses_device(index)
    if not has_device and not any(map(_VIEWS.search, sources.values())):
        return
    for it in timed_findings(sources, shell):
        kind = _KINDS.get(it.found.code)
        if kind and (has_device if it.found.code in _OF_DEVICES else _is_strided(it.found, shell)):
            percent = int(100 * it.share)
            what = f"{it.seconds:.1f} s, {percent} % of the time of {name_of_run(index)}"
            yield _native.Holder(kind, it.label, 0, it.cause_cell, what, percent, "")


def _uses_device(index: int) -> bool:
    record = _native.record(index)
    return any(it.allocated_bytes for it in (record.devices if record else []))


def _is_strided(found: _native.Finding, shell: InteractiveShell) -> bool:
    """Whether the view is there, and is strided in fact."""
    view = value_at(shell.user_ns, found.name or "")
    # A subclass may answer by code of the user's.
    return type(view) is loaded_class("torch", "Tensor") and not view.is_contiguous()
