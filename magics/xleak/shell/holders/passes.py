"""Tensors that carry autograd graphs on from one forward pass to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.holders.carried import Carried, carried, held_by, histories, ways_in_sight, ways_to
from xleak.shell.holders.executed import led_on
from xleak.shell.holders.forwarded import Models
from xleak.shell.holders.graphs import containers_of_graphs, detaching
from xleak.shell.holders.kinds import DERIVATIVE, KINDS, RETAINED, SEVERAL, SUM, UNTRAINED, Kinds
from xleak.shell.holders.look import LEAST_BYTES, Look
from xleak.shell.holders.places import as_written, container_of, place_of, replacing

if TYPE_CHECKING:
    from xleak._torch import NodeId

# The output cache has a magic of its own.
_OUTPUT = re.compile(r"(?:Out|_oh)\[")


@dataclass(frozen=True)
class Group:
    """Tensors that keep the same graphs, the one to blame first."""

    kind: str
    members: list[Carried]
    places: list[str]
    """Where they stand, each once: a pair of states is one place."""
    terms: dict[str, list[_native.GraphBytes]]
    """Containers of what a sum was made of, where they keep most of the same, by expression."""

    @property
    def label(self) -> str:
        return self.places[0]

    @property
    def largest(self) -> str:
        others = " and ".join([*self.places[1:], *self.terms])
        return f"autograd graph (shared with {others})" if others else "autograd graph"


class GraphsOfPasses:
    """States, sums and statistics that were never cut from their graphs, and graphs that were led
    back and retained, once they outlived the cell that left them: until then they may be led back.
    """

    def __init__(self) -> None:
        self._left_by: dict[str, tuple[int, NodeId]] = {}
        self._training: dict[NodeId, bool | None] = {}
        """Whether the model was in that mode at the end of the cell that left the tensor."""
        self.told: set[str] = set()
        """Ways of the tensors in the groups of the last look."""

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those whose graphs were there at an earlier cell too."""
        pool = carried(look)
        self._left_by = {it.way: (self._since(it, look), it.passes.node) for it in pool}
        since = {way: cell for way, (cell, _) in self._left_by.items()}
        self._note_modes(look, pool)
        groups = _groups(look, pool, Kinds(look, since, self._training))
        self.told = {member.way for group in groups for member in group.members}
        for group in groups:
            cell = since[group.members[0].way]
            if cell == look.cell:
                look.search_again()
            elif holder := _holder(group, look, cell):
                yield holder

    def _note_modes(self, look: Look, pool: list[Carried]) -> None:
        new = [it for it in pool if it.passes.node not in self._training]
        models = Models(look) if new else None
        now = {it.passes.node: models.is_training(it.tensor) for it in new} if models else {}
        known = self._training | now
        self._training = {it.passes.node: known[it.passes.node] for it in pool}

    def _since(self, it: Carried, look: Look) -> int:
        """The cell that left it: the first whose graph leads to the graph of now."""
        if it.way not in self._left_by:
            # Of two ways to one tensor now the one is found, now the other.
            same = [cell for cell, node in self._left_by.values() if node == it.passes.node]
            return min(same, default=look.cell)
        from xleak import _torch

        cell, node = self._left_by[it.way]
        return cell if _torch.leads_to(it.tensor, node) else look.cell


def _holder(group: Group, look: Look, since: int) -> _native.Holder | None:
    namespace = look.watcher.shell.user_ns
    ways = [way for member in group.members for way in ways_in_sight(look, member)]
    release = replacing(namespace, ways, lambda way: f"{way}.detach()")
    if release is None:
        return None
    if group.kind in UNTRAINED:
        return _everywhere(group, look, since)
    release = "; ".join([release, *(detaching(namespace, way) for way in group.terms)])
    elements = [graph.tensor for graphs in group.terms.values() for graph in graphs]
    everywhere = any(look.heap.holders_of(it.tensor) > 1 for it in group.members)
    held = held_by(look, group.members, elements, everywhere)
    count = group.members[0].passes.count
    kind = group.kind
    if kind == SUM and not group.members[0].is_one_number:
        kind = "sums of tensors"
    return _native.Holder(kind, group.label, held, since, group.largest, count, release)


def _everywhere(group: Group, look: Look, since: int) -> _native.Holder | None:
    """Such a tensor is a value of the user's, and may have several names: with all of them."""
    namespace, tensors = look.watcher.shell.user_ns, [it.tensor for it in group.members]
    ways = [ways_to(look, it) for it in tensors]
    told = containers_of_graphs(look.heap.graphs(LEAST_BYTES, shared=True, together=True))
    known = [way for found in ways for way in found]
    if not all(ways) or any(container_of(way) in told for way in known):
        return None
    others = [way for way in known if _OUTPUT.match(way)]
    release = replacing(namespace, known, lambda way: f"{way}.detach()")
    own = sum(it.own for it in group.members)
    held = look.heap.freed_without(tensors) - own
    largest = group.largest
    places = [as_written(place_of(namespace, way) or way) for way in known]
    if more := [it for it in dict.fromkeys(places) if it not in group.places]:
        largest = f"autograd graph (shared with {' and '.join([*group.places[1:], *more])})"
    release = "" if others or release is None else release
    count = group.members[0].passes.count
    return _native.Holder(group.kind, group.label, held, since, largest, count, release)


def _groups(look: Look, pool: list[Carried], kinds: Kinds) -> list[Group]:
    """Each tensor in one group at most: the one to blame, and those that keep most of its memory."""
    known = {it: kinds.of(it) for it in pool}
    own = led_on(look.sources.values()) if pool else set()
    blamed = [(KINDS.index(kind), it) for it, kind in known.items() if kind]
    blamed.sort(key=lambda at: (at[0], _name_of(at[1]) not in own, at[1].bytes, at[1].way))
    groups, left = [], list(pool)
    collected = histories(look) if SUM in known.values() else {}
    for number, first in blamed:
        if first not in left:
            continue
        alike = [it for it in left if it is not first and first.is_kept_by(it.storages)]
        members = [first, *(it for it in alike if _goes_with(it, first, known))]
        left = [it for it in left if it not in members]
        # A list of states or outputs may be led back yet; one of what is summed is a record.
        terms = _keeping(collected, first) if KINDS[number] == SUM else {}
        groups.append(Group(KINDS[number], members, _places(look, members), terms))
    return groups


def _goes_with(it: Carried, first: Carried, known: dict[Carried, str | None]) -> bool:
    kind = known[first]
    # The first derivative needs its graph, whatever becomes of the second.
    if kind == DERIVATIVE:
        return known[it] == kind
    # What one pass left in a statistic is in use elsewhere.
    return first.passes.count >= SEVERAL or kind in (RETAINED, *UNTRAINED) or known[it] is not None


def _keeping(
    collected: dict[str, list[_native.GraphBytes]], it: Carried
) -> dict[str, list[_native.GraphBytes]]:
    """Those whose elements keep most of what a tensor keeps."""
    return {
        way: graphs
        for way, graphs in collected.items()
        if it.is_kept_by({key for graph in graphs for key in graph.storages})
    }


def _places(look: Look, members: list[Carried]) -> list[str]:
    namespace = look.watcher.shell.user_ns
    places = [place_of(namespace, it.way) or it.way for it in members]
    return list(dict.fromkeys(as_written(place) for place in places))


def _name_of(it: Carried) -> str:
    return re.split(r"\W", it.way, maxsplit=1)[0]
