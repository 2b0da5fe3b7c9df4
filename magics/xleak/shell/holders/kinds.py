"""Why a tensor of the user's has an autograd graph that it should not have."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xleak.shell.holders.carried import Carried
from xleak.shell.holders.executed import led_back_with_retain_graph
from xleak.shell.holders.look import Look
from xleak.shell.holders.places import parent_of, value_at
from xleak.shell.modules import is_module

STATE, STATISTIC, SUM, RETAINED = "carried states", "statistics", "sums", "retained graphs"
# What explains more of a tensor comes first.
KINDS = (STATE, STATISTIC, SUM, RETAINED)

# Two passes are a comparison, or one network for both halves of a pair.
SEVERAL = 3
# Fewer are summed for one step: the parts of a loss, the batches whose gradients are gathered.
_SUMS = 10
# An attribute that was made of so many is an average over them, not an output of the last.
_AVERAGED = 5

_BUFFER = re.compile(r"(.+)\._buffers\['[^'\\]*'\]")


class Kinds:
    """Tells the kind of a tensor from its graph, its place and what was executed."""

    def __init__(self, look: Look, since: Mapping[str, int]) -> None:
        """since: by way, the cell that left the tensor."""
        self._namespace = look.watcher.shell.user_ns
        self._since = since
        self._sources = look.sources

    def of(self, it: Carried) -> str | None:
        """One of KINDS; None for a tensor that may well be in use."""
        if _is_state(it):
            return STATE
        if self._is_statistic(it):
            return STATISTIC
        if _is_sum(it):
            return SUM
        return RETAINED if it.is_scalar and self._was_led_back(it) else None

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
