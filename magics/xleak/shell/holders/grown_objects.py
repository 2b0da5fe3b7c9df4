"""Objects of the user's classes that grew since they were made, by what cells called, and that no later cell uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.fields import is_instance
from xleak.shell.heap import user_names
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.executed import names_bound
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.signs import since
from xleak.shell.holders.uses import Uses

# What they learn or gather is what the notebook is about.
_MODELS = [
    ("torch.nn.modules.module", "Module"),
    ("torch.optim.optimizer", "Optimizer"),
    ("sklearn.base", "BaseEstimator"),
]
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
        before, self._first = self._first, {}
        for name in user_names(look.watcher):
            value = entries.get(name)
            if value is None or not _may_grow(value):
                continue
            known = before.get(name)
            if known is None or known.id != id(value):
                known = self._begin(look, name, value)
            self._first[name] = known
        self._looked_at = look.cell

    def _begin(self, look: Look, name: str, value: object) -> _First:
        """Cells after which nobody looked have kept next to nothing."""
        quiet = since(self._looked_at, look.sources)
        bound = [cell for cell, source in quiet.items() if name in names_bound(source)]
        if bound and bound[-1] < look.cell:
            return _First(id(value), bound[-1], 0)
        return _First(id(value), look.cell, look.heap.retained_bytes(name))

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


def _may_grow(value: object) -> bool:
    return is_users_class(type(value)) and not any(is_instance(value, *it) for it in _MODELS)
