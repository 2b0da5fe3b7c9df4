"""Large values under names that no later cell mentions."""

from __future__ import annotations

from collections.abc import Iterator

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.heap import user_names
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.uses import Uses, first_name
from xleak.shell.own_cells import is_own


class UnusedValues:
    """Those of a verdict: while cells come, the next may use them. They stay until one does."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._found: set[str] = set()

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each name."""
        if not look.settled and not self._found:
            return
        self._uses.read(look)
        shell, last_read = look.watcher.shell, self._uses.last_read
        in_use = self._uses.of(look.running)
        reported = {first_name(label) for label in look.reported}
        known, self._found = self._found, set()
        # A cell of xleak's magics alone is no later cell.
        goes_on = look.running != look.sources.get(last_read) and not is_own(shell, look.running)
        for name in user_names(look.watcher):
            is_latest = self._uses.last(name) == last_read and not goes_on
            if is_latest or name in in_use or name in reported:
                continue
            kept = look.heap.retained_bytes(name) if look.settled or name in known else 0
            if kept < REPORTED_BYTES:
                continue
            self._found.add(name)
            cause = cause_of(shell, look.heap.births(name))
            yield _native.Holder(
                "unused value",
                name,
                kept,
                cause.cell if cause else None,
                _native.type_name(_native.value_at(shell.user_ns, name)),
                1,
                f"del {name}",
                line=cause.line if cause else None,
            )
