"""Scalers of mixed precision through which no step goes, or none that counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.fields import class_fields, instances
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.look import Look, is_the_users
from xleak.shell.holders.weights import WeightChanges
from xleak.shell.own_ref import OwnRef
from xleak.shell.tensor_fields import is_tensor, tensor_class, tensor_field, untouched

# The optimizers of torch write a weight as often in one step, at most.
_CHANGES_PER_STEP = 2
# Certain enough that no loop forgot its last line.
_STEPS = 100
# A search for the scale ends above 1: what overflows here does so unscaled.
_HOPELESS = 2.0**-10
_NAME = "torch.amp.GradScaler"


@dataclass(frozen=True)
class _Scaler:
    """A scaler that has scaled, at one look."""

    object: Any
    fields: dict[str, Any]
    scale: Any
    """A tensor of one number, on the scaler's device."""

    @property
    def updates(self) -> int:
        """How often its scale was written since it was made."""
        return int(tensor_field(self.scale, "_version"))

    @property
    def is_stepped(self) -> bool:
        """Whether a step or an update ever went through it."""
        states = self.fields.get("_per_optimizer_states")
        return self.updates > 0 or bool(_native.items_of(states, 0, 1))

    def skipped(self) -> int:
        """How many steps it skipped at least; 0 where its scale is one to work with."""
        first, backoff = self.fields.get("_init_scale"), self.fields.get("_backoff_factor")
        if type(first) is not float or type(backoff) is not float or not 0 < backoff < 1:
            return 0
        scale = _number(self.scale)
        if scale is None or first < 1 or scale > _HOPELESS:
            return 0
        # Below the smallest number it is 0, and says no more.
        return int(math.log(first / max(scale, 2.0**-149), 1 / backoff))


@dataclass(frozen=True)
class _Told:
    scaler: OwnRef[object]
    cell: int
    count: int
    """Of steps past it."""


class Scalers:
    """Told until a step goes through them, or they are gone."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._changes = WeightChanges(counts)
        self._mentioned = False
        self._scaling: dict[int, OwnRef[object]] = {}
        """By id those that had scaled before."""
        self._passed: dict[int, _Told] = {}
        self._skipping: dict[int, int] = {}
        """By id the cell after which it skipped all steps."""

    def after_cell(self, index: int, source: str) -> bool:
        """Whether the cell trained in a session that makes such a scaler."""
        self._mentioned = self._mentioned or "GradScaler" in source
        return self._mentioned and self._counts.recorded[-1:] == [index]

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each such scaler."""
        steps = self._changes.since_last(look) // _CHANGES_PER_STEP
        scalers = list(_scaling(look))
        idle = [it for it in scalers if not it.is_stepped]
        self._passed = {
            id(it.object): told for it in idle if (told := self._told(it, steps, look)) is not None
        }
        skipped = {id(it.object): it.skipped() for it in scalers if it.is_stepped}
        self._skipping = {
            it: self._skipping.get(it, look.cell) for it, count in skipped.items() if count
        }
        self._scaling = {id(it.object): OwnRef(it.object) for it in scalers}
        for it in scalers:
            label = _label(it.object, look)
            if told := self._passed.get(id(it.object)):
                kind, count, cell = "scaler without steps", told.count, told.cell
            elif since := self._skipping.get(id(it.object)):
                kind, count, cell = "scaler that skips", skipped[id(it.object)], since
            else:
                continue
            yield _native.Holder(kind, label, 0, cell, _NAME, count, "")

    def _told(self, it: _Scaler, steps: int, look: Look) -> _Told | None:
        """That steps went past a scaler which scaled in their cell, or did before."""
        before = self._passed.get(id(it.object))
        if before is not None and before.scaler() is it.object:
            return before
        known = self._scaling.get(id(it.object))
        scaled_before = known is not None and known() is it.object
        text = f"{_label(it.object, look)}.scale("
        if steps < _STEPS or (scaled_before and text not in look.sources.get(look.cell, "")):
            return None
        return _Told(OwnRef(it.object), look.cell, steps)


def _scaling(look: Look) -> Iterator[_Scaler]:
    for scaler, fields in instances(look.live, "torch.amp.grad_scaler", "GradScaler"):
        scale = fields.get("_scale")
        if fields.get("_enabled") is True and is_tensor(scale):
            yield _Scaler(scaler, fields, scale)


def _label(scaler: object, look: Look) -> str:
    way = look.heap.way_to(scaler)
    return way if is_the_users(way) else _NAME


def _number(tensor: Any) -> float | None:
    """The value of a tensor of one number, on the host or on CUDA; elsewhere to ask may compute."""
    if not (tensor_field(tensor, "is_cpu") or tensor_field(tensor, "is_cuda")):
        return None
    try:
        with untouched():
            return float(class_fields(tensor_class())["item"](tensor))
    except RuntimeError:
        return None  # An earlier failure of the device, which is no matter of ours.
