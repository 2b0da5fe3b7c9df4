"""Objects of the user's classes that grew since they were made, by what cells called, and that no later cell uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.fields import is_instance
from xleak.shell.heap import user_names
from xleak.shell.holders.containers import MODELS, is_users_class
from xleak.shell.holders.executed import names_bound
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.signs import since
from xleak.shell.holders.uses import Uses

# What they learn or gather is what the notebook is about.
_LEARNING = [*MODELS, ("torch.optim.optimizer", "Optimizer")]
# The next cell may come to it; what two have not used is left.
_CELLS_SINCE = 2
# Of what it keeps, for it to be more than what it was made as.
_SHARE = 0.4


@dataclass(frozen=True)
class _First:
    """What an object kept after the first cell that is known to have had it."""

    id: int
    cell: int
    kept: int


class GrownObjects:
    """Follows what names of such objects keep, from the first look on that finds them."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._first: dict[str, _First] = {}
        self._looked_at = 0

    def note(self, look: Look) -> None:
        """At each look."""
        entries = _native.entries_of(look.watcher.shell.user_ns)
        quiet = since(self._looked_at, look.sources)
        bound = {name: cell for cell, source in quiet.items() for name in names_bound(source)}
        before, self._first = self._first, {}
        for name in user_names(look.watcher):
            value = entries.get(name)
            if value is None or not _may_grow(value):
                continue
            first = before.get(name)
            # Another object may have the address of one that is gone.
            if first is None or first.id != id(value) or name in bound:
                first = _begin(look, name, value, bound.get(name, look.cell))
            self._first[name] = first
        self._looked_at = look.cell

    def __call__(self, look: Look, name: str, kept: int) -> _native.Holder | None:
        """The holder of a name that no cell uses any more; None where it was made as large."""
        first = self._first.get(name)
        last_use = self._uses.last(name)
        later = sum(cell > last_use for cell in look.sources)
        if first is None or first.cell >= last_use or later < _CELLS_SINCE:
            return None
        grown = kept - first.kept
        if grown < max(REPORTED_BYTES, kept * _SHARE):
            return None
        value: Any = _native.value_at(look.watcher.shell.user_ns, name)
        births = look.births_with(name)
        cause = cause_of(look.watcher.shell, [it for it in births if it[0] > first.cell] or births)
        return _native.Holder(
            "grown object",
            name,
            grown,
            cause.cell if cause else last_use,
            _native.type_name(value),
            1,
            look.deleting(name),
            line=cause.line if cause else None,
        )


def _begin(look: Look, name: str, value: object, cell: int) -> _First:
    """Of an object that `cell` has bound. Cells after which nobody looked have kept next to nothing."""
    kept = look.heap.retained_bytes(name) if cell >= look.cell else 0
    return _First(id(value), cell, kept)


def _may_grow(value: object) -> bool:
    return is_users_class(type(value)) and not any(is_instance(value, *it) for it in _LEARNING)
