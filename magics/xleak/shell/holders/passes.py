"""Tensors that carry autograd graphs on from one forward pass to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell.holders.carried import Carried, carried, held_by, histories
from xleak.shell.holders.executed import led_on
from xleak.shell.holders.graphs import detaching
from xleak.shell.holders.kinds import KINDS, RETAINED, SEVERAL, SUM, Kinds
from xleak.shell.holders.look import Look
from xleak.shell.holders.places import as_written, place_of, replacing

if TYPE_CHECKING:
    from xleak._torch import NodeId


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
        self.told: set[str] = set()
        """Ways of the tensors in the groups of the last look."""

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those whose graphs were there at an earlier cell too."""
        pool = carried(look)
        self._left_by = {it.way: (self._since(it, look), it.passes.node) for it in pool}
        since = {way: cell for way, (cell, _) in self._left_by.items()}
        groups = _groups(look, pool, Kinds(look, since))
        self.told = {member.way for group in groups for member in group.members}
        for group in groups:
            cell = since[group.members[0].way]
            if cell == look.cell:
                look.search_again()
            elif holder := _holder(group, look, cell):
                yield holder

    def _since(self, it: Carried, look: Look) -> int:
        """The cell that left it: the first whose graph leads to the graph of now."""
        if it.way not in self._left_by:
            return look.cell
        from xleak import _torch

        cell, node = self._left_by[it.way]
        return cell if _torch.leads_to(it.tensor, node) else look.cell


def _holder(group: Group, look: Look, since: int) -> _native.Holder | None:
    namespace = look.watcher.shell.user_ns
    ways = [member.way for member in group.members]
    release = replacing(namespace, ways, lambda way: f"{way}.detach()")
    if release is None:
        return None
    release = "; ".join([release, *(detaching(namespace, way) for way in group.terms)])
    elements = [graph.tensor for graphs in group.terms.values() for graph in graphs]
    held, count = held_by(look, group.members, elements), group.members[0].passes.count
    return _native.Holder(group.kind, group.label, held, since, group.largest, count, release)


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
        # What one pass left in a statistic is in use elsewhere.
        whole = first.passes.count >= SEVERAL or KINDS[number] == RETAINED
        alike = [it for it in left if it is not first and first.is_kept_by(it.storages)]
        members = [first, *(it for it in alike if whole or known[it])]
        left = [it for it in left if it not in members]
        # A list of states or outputs may be led back yet; one of what is summed is a record.
        terms = _keeping(collected, first) if KINDS[number] == SUM else {}
        groups.append(Group(KINDS[number], members, _places(look, members), terms))
    return groups


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
