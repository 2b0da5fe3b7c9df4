"""Optimizers that go along gradients which nothing resets between their steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.look import Look, is_the_users, may_be_released
from xleak.shell.holders.optimizers import live_optimizers, weights_of
from xleak.shell.holders.suspicions import Suspicion
from xleak.shell.own_ref import OwnRef
from xleak.shell.tensor_fields import tensor_field

_LEARNS = re.compile(r"\boptim|\bstep\b|\bbackward\b")
# A pair of passes may be meant to add up.
_STEPS = 3
# What writes a weight when its layer is made.
_MOST_AT_FIRST = 3


@dataclass(frozen=True)
class _Versions:
    """torch's counters of changes in place."""

    gradient: int
    """Identity of the gradient."""
    of_gradient: int
    of_weight: int


class _Stepping:
    """One optimizer, by the first of its weights that has a gradient. Keeps no object alive."""

    def __init__(self, optimizer: object, weight: object) -> None:
        self.optimizer = OwnRef(optimizer)
        self.since: int | None = None
        """The cell that stepped without a reset; None where the last one did not."""
        self.added = 0
        """How often backward() added to the gradient."""
        self._weight = OwnRef(weight)
        self._before: _Versions | None = None

    def is_alive(self) -> bool:
        return self.optimizer() is not None and self._weight() is not None

    def after_cell(self, cell: int) -> bool:
        """Whether there is something to tell now, or no longer."""
        weight = self._weight()
        now = None if weight is None else _versions(weight)
        before, self._before, told = self._before, now, self.since is not None
        if now is None:
            self.since = None
        elif now != before:
            self.since = (self.since or cell) if self._adds_up(before, now) else None
            self.added = now.of_gradient + 1
        return (self.since is not None) != told

    @staticmethod
    def _adds_up(before: _Versions | None, now: _Versions) -> bool:
        """Whether each step had one more pass in the gradient than the one before. A reset is a
        change in place, too, or leaves another gradient; Adam with decay writes a weight twice."""
        lasted = before is not None and before.gradient == now.gradient
        added = now.of_gradient - before.of_gradient if before and lasted else now.of_gradient + 1
        written = {now.of_weight - before.of_weight} if before else _since_it_was_made(now)
        return added >= _STEPS and not written.isdisjoint({added, 2 * added})


class UnclearedGradients:
    """Told until the gradients are reset. The counters do not know what was meant: where the source
    has a reset they say nothing."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._suspicion = Suspicion("XL204")
        self._known: dict[int, _Stepping] = {}
        self._read: set[str] = set()

    def after_cell(self, index: int, source: str) -> bool:
        """Whether there is something to tell, or no longer, or optimizers to know."""
        self._known = {key: it for key, it in self._known.items() if it.is_alive()}
        changed = [it.after_cell(index) for it in self._known.values()]
        trained = self._counts.recorded[-1:] == [index] and _LEARNS.search(source) is not None
        is_new = trained and source not in self._read
        if is_new:
            self._read.add(source)
        return any(changed) or is_new

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each optimizer."""
        for optimizer, fields in live_optimizers(look.live):
            known = self._known.get(id(optimizer))
            if known is None or known.optimizer() is not optimizer:
                self._learn(optimizer, fields, look.cell)
        told = [(it, it.since) for it in self._known.values() if it.since is not None]
        if not told or not self._suspicion.holds(look.sources):
            return
        for it, since in told:
            optimizer = it.optimizer()
            way = look.heap.way_to(optimizer)
            name = _native.type_name(optimizer)
            release = f"{way}.zero_grad();" if may_be_released(way) else ""
            label = way if is_the_users(way) else f"{name}, from {name_of_run(since)} on"
            yield _native.Holder("uncleared gradients", label, 0, since, name, it.added, release)

    def _learn(self, optimizer: object, fields: dict[str, Any], cell: int) -> None:
        for weight in weights_of(fields):
            if _versions(weight) is not None:
                stepping = self._known[id(optimizer)] = _Stepping(optimizer, weight)
                stepping.after_cell(cell)
                return


def _versions(weight: object) -> _Versions | None:
    """None where the weight has no gradient, or counts nothing, as those of inference mode."""
    gradient = tensor_field(weight, "grad") if tensor_field(weight, "is_leaf") else None
    if gradient is None:
        return None
    try:
        versions = [tensor_field(it, "_version") for it in (gradient, weight)]
    except RuntimeError:
        return None
    return _Versions(id(gradient), *versions)


def _since_it_was_made(now: _Versions) -> set[int]:
    return {now.of_weight - at_first for at_first in range(_MOST_AT_FIRST + 1)}
