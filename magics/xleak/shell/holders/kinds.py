"""Why a tensor of the user's has an autograd graph that it should not have."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xleak.shell.holders.carried import Carried
from xleak.shell.holders.derivatives import names_of_last_derivatives
from xleak.shell.holders.executed import led_back_with_retain_graph
from xleak.shell.holders.forwarded import (
    Models,
    may_be_led_back,
    only_predicts,
    turns,
    was_set_to_evaluate,
)
from xleak.shell.holders.look import Look
from xleak.shell.holders.places import parent_of, value_at
from xleak.shell.modules import is_module

if TYPE_CHECKING:
    from xleak._torch import NodeId

STATE, STATISTIC, SUM, RETAINED = "carried states", "statistics", "sums", "retained graphs"
DERIVATIVE, EVALUATED = "last derivatives", "evaluations"
PREDICTIONS, PREDICTION = "predictions", "one prediction"
# What explains more of a tensor comes first.
KINDS = (STATE, STATISTIC, SUM, RETAINED, DERIVATIVE, EVALUATED, PREDICTIONS, PREDICTION)
# Without gradients nothing that was made of the pass had kept any of it.
UNTRAINED = (EVALUATED, PREDICTIONS, PREDICTION)

# Two passes are a comparison, or one network for both halves of a pair.
SEVERAL = 3
# Fewer are summed for one step: the parts of a loss, the batches whose gradients are gathered.
_SUMS = 10
# An attribute that was made of so many is an average over them, not an output of the last.
_AVERAGED = 5

_BUFFER = re.compile(r"(.+)\._buffers\['[^'\\]*'\]")


class Kinds:
    """Tells the kind of a tensor from its graph, its place and what was executed."""

    def __init__(
        self, look: Look, since: Mapping[str, int], training: Mapping[NodeId, bool | None]
    ) -> None:
        """since: by way, the cell that left the tensor; training: by node, whether the model was
        in that mode then."""
        self._look = look
        self._namespace = look.watcher.shell.user_ns
        self._since = since
        self._training = training
        self._sources = look.sources

    def of(self, it: Carried) -> str | None:
        """One of KINDS; None for a tensor that may well be in use."""
        if _is_state(it):
            return STATE
        if self._is_statistic(it):
            return STATISTIC
        if _is_sum(it):
            return SUM
        if it.is_scalar and self._was_led_back(it):
            return RETAINED
        return DERIVATIVE if it.way in self._last_derivatives else self._untrained(it)

    @functools.cached_property
    def _last_derivatives(self) -> set[str]:
        return names_of_last_derivatives(self._sources.values(), self._namespace)

    @functools.cached_property
    def _only_predicts(self) -> bool:
        return only_predicts(self._look) and not Models(self._look).were_trained()

    def _untrained(self, it: Carried) -> str | None:
        """Of a forward pass whose gradients nobody wants."""
        since, training = self._since[it.way], self._training.get(it.passes.node)
        of_module = is_module(value_at(self._namespace, parent_of(it.way)))
        if training is None or of_module or may_be_led_back(self._look, since):
            return None
        if not training and was_set_to_evaluate(self._look):
            return EVALUATED
        if not self._only_predicts:
            return None
        return PREDICTIONS if turns(self._sources.get(since, "")) else PREDICTION

    def _is_statistic(self, it: Carried) -> bool:
        buffer = _BUFFER.fullmatch(it.way)
        if not buffer and it.passes.count < _AVERAGED:
            return False
        owner = value_at(self._namespace, buffer.group(1) if buffer else parent_of(it.way))
        return not it.passes.in_sequence and is_module(owner)

    def _was_led_back(self, it: Carried) -> bool:
        """By its name in the cell that left it or since, or in a function that returned it there."""
        since = self._since[it.way]
        own = [source for cell, source in self._sources.items() if cell >= since]
        if it.way not in led_back_with_retain_graph(own, self._sources.values()):
            return False
        from xleak import _torch

        # Where another pass released a part, such as that of a second loss, the flag was needed.
        return _torch.graph(it.tensor).released == 0


def _is_state(it: Carried) -> bool:
    return it.passes.in_sequence and it.passes.count >= SEVERAL and not it.is_scalar


def _is_sum(it: Carried) -> bool:
    """One way through many passes would be that of one deep network; tensors that were put side
    by side are in use."""
    passes = it.passes
    joined_in_turn = it.is_scalar or passes.widest < passes.count
    return not passes.in_sequence and passes.count >= _SUMS and joined_in_turn
