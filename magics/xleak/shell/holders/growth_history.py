"""Which of the things that a look finds have grown, execution after execution."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.signs import since

# As often must it have grown: less is what a program that starts up does.
RISES = 3


@dataclass(frozen=True)
class Observed:
    """One thing at one look. Sizes in bytes."""

    way: str
    identity: int
    count: int
    """Of its elements."""
    kept: int
    is_new: bool
    """Whether it was made since the look before, where it is seen for the first time."""
    by_the_user: bool
    """Whether it is plain to the user that the cells since the look before may fill it."""


@dataclass
class _Record:
    last: Observed
    rises: int = 0
    kept_before: int = 0
    first_cell: int = 0
    filled_by: set[str] = field(default_factory=set)


class GrowthHistory:
    """Remembers numbers and sources of cells, no object."""

    def __init__(self) -> None:
        self._records: dict[str, _Record] = {}
        self._seen: set[str] = set()
        self._last_cell = 0

    def cells_since(self, look: Look) -> dict[int, str]:
        """The sources of the cells since the look before."""
        return since(self._last_cell, look.sources)

    def grown(self, look: Look, things: Iterable[Observed]) -> dict[str, int]:
        """Takes all there are now; tells of those that grew, by way, the cell of the first rise."""
        cells = set(self.cells_since(look).values())
        self._records = {it.way: self._follow(it, look.cell, cells) for it in things}
        self._seen |= set(self._records)
        self._last_cell = look.cell
        return {way: it.first_cell for way, it in self._records.items() if _has_grown(it)}

    def _follow(self, now: Observed, cell: int, cells: set[str]) -> _Record:
        record = self._records.get(now.way)
        if record is None:
            # What is too small is not seen. Once it was, it has shrunk since.
            if now.is_new or now.way in self._seen:
                return _Record(now)
            record = _Record(Observed(now.way, now.identity, 0, 0, False, False))
        last, record.last = record.last, now
        if now.identity != last.identity or now.count < last.count:
            return _Record(now)
        if now.count > last.count and not now.by_the_user:
            if record.rises == 0:
                record.kept_before, record.first_cell = last.kept, cell
            record.rises += 1
            record.filled_by |= cells if len(cells) == 1 else set()
        elif now.count == last.count and record.filled_by & cells:
            # It has levelled off.
            return _Record(now)
        return record


def _has_grown(record: _Record) -> bool:
    return record.rises >= RISES and record.last.kept - record.kept_before >= REPORTED_BYTES
