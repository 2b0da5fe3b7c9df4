"""A cell that has run for minutes and grows: told while it runs, since its end may never come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.holders.timed_lines import latest, timed_findings

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# What grows for shorter may be filling a container that is meant to be full.
LONG_SECONDS = 600.0
# It grows where it grew in both halves of the last minutes.
WINDOW_SECONDS = 300.0
_BYTES_PER_MINUTE = 1 << 20


class LongCell:
    """Remembers sizes of the cell that runs."""

    def __init__(self) -> None:
        self._cell = 0
        self._sizes: list[tuple[float, int]] = []
        """(seconds, resident bytes) of the last minutes."""

    def __call__(
        self, text: str, earlier: Mapping[int, str], shell: InteractiveShell
    ) -> Iterator[_native.Holder]:
        """One holder for each loop without a way out that it is in. text: the cell's source; earlier:
        what ran before it."""
        running = _native.running_cell()
        if running is None:
            return
        cell, seconds, resident_before, resident = running
        if cell != self._cell:
            self._cell, self._sizes = cell, []
        recent = [it for it in self._sizes if it[0] >= seconds - WINDOW_SECONDS]
        # One from before the window stays, so that the window is whole.
        self._sizes = [*self._sizes[-len(recent) - 1 :], (seconds, resident)]
        rate = self._bytes_per_minute()
        if seconds < LONG_SECONDS or rate < _BYTES_PER_MINUTE:
            return
        for it in timed_findings(latest({**earlier, cell: text}), shell):
            # Where an interrupt is expected, somebody waits for the cell.
            if it.found.code == "XL303" and it.found.severity != "note" and it.share > 0.5:
                grown, minutes = resident - resident_before, int(seconds // 60)
                speed = f"{_native.human(int(rate))} a minute"
                label = f"line {it.found.line} of {name_of_run(it.cause_cell)}"
                yield _native.Holder(
                    "endless loop", label, grown, it.cause_cell, speed, minutes, ""
                )

    def _bytes_per_minute(self) -> float:
        """The less of those of both halves of the window; 0 until it is over."""
        (first, _), (last, _) = self._sizes[0], self._sizes[-1]
        if last - first < WINDOW_SECONDS:
            return 0.0
        middle = min(self._sizes, key=lambda it: abs(it[0] - (first + last) / 2))
        return min(
            _rate(self._sizes[0], middle),
            _rate(middle, self._sizes[-1]),
        )


def _rate(before: tuple[float, int], after: tuple[float, int]) -> float:
    minutes = (after[0] - before[0]) / 60
    return (after[1] - before[1]) / minutes if minutes > 0 else 0.0
