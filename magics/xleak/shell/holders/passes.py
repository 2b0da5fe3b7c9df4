"""Tensors that carry autograd graphs on from one forward pass to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.holders.carried import Carried, carried, held_by
from xleak.shell.holders.executed import led_on
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.places import as_written, place_of, replacing

if TYPE_CHECKING:
    from xleak._torch import StorageWatch

# Two passes are a comparison, or one network for both halves of a pair.
_STATES = 3
# Fewer are summed for one step: the parts of a loss, the batches whose gradients are gathered.
_SUMS = 10


@dataclass(frozen=True)
class Group:
    """Tensors that keep the same graphs, the one to blame first."""

    kind: str
    members: list[Carried]
    places: list[str]
    """Where they stand, each once: a pair of states is one place."""

    @property
    def label(self) -> str:
        return self.places[0]

    @property
    def largest(self) -> str:
        others = " and ".join(self.places[1:])
        verb = "shares" if len(self.places) == 2 else "share"
        return f"autograd graph, which {others} {verb}," if others else "autograd graph"


class GraphsOfPasses:
    """States and sums that were never cut from their graphs, once they outlived the cell that
    left them: until then they may be led back."""

    def __init__(self) -> None:
        self._left_by: dict[str, tuple[int, StorageWatch]] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those of whose graphs much was there at an earlier cell too."""
        groups = _groups(look)
        self._left_by = {group.label: self._seen(group, look) for group in groups}
        for group in groups:
            since, _ = self._left_by[group.label]
            if since == look.cell:
                look.search_again()
            elif holder := _holder(group, look, since):
                yield holder

    def _seen(self, group: Group, look: Look) -> tuple[int, StorageWatch]:
        """The cell that left it, and what it keeps now."""
        from xleak import _torch

        first = group.members[0]
        now = _torch.watch(first.tensor, saved=True)
        since, before = self._left_by.get(group.label, (look.cell, None))
        old = before.alive() if before else []
        if sum(first.storages.get(key, 0) for key in old) < REPORTED_BYTES:
            since = look.cell
        return since, now


def _holder(group: Group, look: Look, since: int) -> _native.Holder | None:
    ways = [member.way for member in group.members]
    release = replacing(look.watcher.shell.user_ns, ways, lambda way: f"{way}.detach()")
    if release is None:
        return None
    held, count = held_by(look, group.members), group.members[0].passes.count
    return _native.Holder(group.kind, group.label, held, since, group.largest, count, release)


def _groups(look: Look) -> list[Group]:
    """Each tensor in one group at most: a state or a sum, and all that keep most of its memory."""
    left = carried(look)
    own = led_on(look.sources.values()) if left else set()
    left.sort(key=lambda it: (not _is_state(it), _name_of(it) not in own, it.bytes, it.way))
    groups = []
    while first := next((it for it in left if _is_state(it) or _is_sum(it)), None):
        members = [first, *(it for it in left if it is not first and it.keeps_most_of(first))]
        left = [it for it in left if it not in members]
        kind = "carried states" if _is_state(first) else "sums"
        groups.append(Group(kind, members, _places(look, members)))
    return groups


def _places(look: Look, members: list[Carried]) -> list[str]:
    namespace = look.watcher.shell.user_ns
    places = [place_of(namespace, it.way) or it.way for it in members]
    return list(dict.fromkeys(as_written(place) for place in places))


def _name_of(it: Carried) -> str:
    return re.split(r"\W", it.way, maxsplit=1)[0]


def _is_state(it: Carried) -> bool:
    return it.passes.in_sequence and it.passes.count >= _STATES and not it.is_scalar


def _is_sum(it: Carried) -> bool:
    """One way through many passes would be that of one deep network; tensors that were put side
    by side are in use."""
    passes = it.passes
    joined_in_turn = it.is_scalar or passes.widest < passes.count
    return not passes.in_sequence and passes.count >= _SUMS and joined_in_turn
