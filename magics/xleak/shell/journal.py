"""What was released in this session: when, why, and how many bytes came back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from xleak import _native
from xleak.shell.counters import read_counters, returned
from xleak.shell.settings import Xleak
from xleak.shell.taken_out import TakenOut

# As many as cells that a panel is told of.
_MOST_ENTRIES = 1000

Who = Literal["agent", "you"]


@dataclass
class Entry:
    """One release. freed: bytes that came back, by allocator, by its own counters."""

    number: int
    time: datetime
    cell: int
    """Index of the cell that ran, or else of the last one."""
    who: Who
    what: str
    why: str
    freed: dict[str, int]
    kept_bytes: int = 0
    """What has not come back, because it is kept for undo; an estimate."""
    undone: bool = False
    kept: TakenOut | None = field(default=None, repr=False)

    @property
    def undo(self) -> bool:
        """Whether it can be undone now."""
        return self.kept is not None


def entry_shape(entry: Entry) -> dict[str, Any]:
    """An entry as panels get it."""
    kept = f"; about {_native.human(entry.kept_bytes)} kept for undo" if entry.undo else ""
    return {
        "number": entry.number,
        "time": entry.time.isoformat(timespec="seconds"),
        "cell": entry.cell,
        "what": entry.what,
        "why": entry.why + ("; undone" if entry.undone else kept),
        "freed": entry.freed,
        "undo": entry.undo,
    }


# (the entries that came or changed), called once they are complete.
Listener = Callable[[list[Entry]], None]


class Journal:
    """The latest entries, numbered from 1."""

    def __init__(self, settings: Xleak, in_use: set[int]) -> None:
        """in_use: the numbers of the output entries that stay, to which undone ones come."""
        self.listeners: list[Listener] = []
        self._settings = settings
        self._in_use = in_use
        self._entries: deque[Entry] = deque(maxlen=_MOST_ENTRIES)
        self._last = 0
        self._inside: list[str] | None = None
        settings.observe(lambda change: self._let_go(), "keep_undo")

    @property
    def entries(self) -> list[Entry]:
        """Oldest first."""
        return list(self._entries)

    def add(
        self,
        who: Who,
        what: str,
        why: str,
        freed: Mapping[str, int],
        kept: TakenOut | None = None,
        kept_bytes: int = 0,
    ) -> None:
        """Notes one release. kept: what undo puts back; kept_bytes: what it takes until then."""
        if self._inside is not None:
            self._inside.append(what)
            return
        self._last += 1
        running, latest = _native.running_cell(), _native.latest_record()
        cell = running[0] if running else latest.index if latest is not None else 1
        now = datetime.now(timezone.utc).astimezone()
        sizes = {owner: size for owner, size in freed.items() if size > 0}
        entry = Entry(self._last, now, cell, who, what, why, sizes, kept_bytes, kept=kept)
        self._entries.append(entry)
        self._tell([entry])
        self._let_go()

    @contextmanager
    def as_one(self) -> Iterator[list[str]]:
        """Releases inside get no entry of their own: the caller adds one for all of them, and gets the
        names of what was released."""
        before, gone = self._inside, list[str]()
        self._inside = gone
        try:
            yield gone
        finally:
            self._inside = before

    def undo(self, number: int) -> Entry:
        """Puts an output entry back. Raises ValueError with one sentence where that cannot be."""
        entry = next((it for it in self._entries if it.number == number), None)
        if entry is None:
            raise ValueError(f"the journal has no entry {number}")
        if entry.undone:
            raise ValueError(f"entry {number} is undone already")
        if entry.kept is None:
            raise ValueError(f"entry {number} cannot be undone: {entry.what} is freed")
        entry.kept.put_back()
        self._in_use.update(entry.kept.numbers)
        entry.kept, entry.kept_bytes, entry.undone = None, 0, True
        self._tell([entry])
        return entry

    def _let_go(self) -> None:
        """Of what is kept for undo only the latest stays; what goes is freed now, and measured."""
        kept = [entry for entry in self._entries if entry.undo]
        gone = kept[: max(0, len(kept) - self._settings.keep_undo)]
        for entry in gone:
            before = read_counters()
            entry.kept, entry.kept_bytes = None, 0
            entry.freed = returned(before, read_counters())
        if gone:
            self._tell(gone)

    def _tell(self, entries: list[Entry]) -> None:
        for listener in self.listeners:
            listener(entries)
