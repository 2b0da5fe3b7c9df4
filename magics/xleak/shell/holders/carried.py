"""Tensors of the user's whose autograd graphs keep much, and which of them keep the same."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.fields import loaded_class
from xleak.shell.holders.graphs import SCALAR_BYTES, containers_of_graphs, detaching
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look, is_the_users, tensors_by_id
from xleak.shell.holders.places import parent_of, tuples_to, value_at
from xleak.shell.tensor_fields import tensor_field

if TYPE_CHECKING:
    from xleak._torch import Passes

# The output cache has a smell of its own; a base goes with its view.
_OF_OTHERS = re.compile(r"^Out\[|\._base\b|\.grad\b")
# More are looked at where the largest are repaired.
_MOST = 20
# What has so much of the memory that another keeps, keeps it too.
_SAME = 0.5


# Compared by identity: a tensor has an == of its own.
@dataclass(frozen=True, eq=False)
class Carried:
    """A tensor at an expression of the user's, and what its graph keeps, alone or with others."""

    way: str
    tensor: Any
    own: int
    storages: dict[int, int]
    """By key, their bytes."""
    passes: Passes

    @property
    def bytes(self) -> int:
        return sum(self.storages.values())

    @property
    def is_scalar(self) -> bool:
        return self.own <= SCALAR_BYTES

    @property
    def is_one_number(self) -> bool:
        """Whether `.item()` works on it; of exact tensors, since a subclass may run the user's code."""
        if type(self.tensor) is not loaded_class("torch", "Tensor"):
            return False
        return all(int(size) == 1 for size in tensor_field(self.tensor, "shape"))

    def is_kept_by(self, storages: Container[int]) -> bool:
        """Whether most of the memory would stay with whom else has these, by their keys."""
        both = [size for key, size in self.storages.items() if key in storages]
        return sum(both) >= _SAME * self.bytes


def carried(look: Look) -> list[Carried]:
    """Those with the largest graphs, but elements of containers that are told as a whole."""
    told = containers_of_graphs(look.heap.graphs(LEAST_BYTES, together=True))
    graphs = [
        graph
        for graph in look.heap.graphs(REPORTED_BYTES, shared=True)
        if is_the_users(graph.way)
        and not _OF_OTHERS.search(graph.way)
        and parent_of(graph.way) not in told
    ]
    graphs.sort(key=lambda graph: (-graph.kept, graph.way))
    return list(_with_passes(look, graphs[:_MOST]))


def histories(look: Look) -> dict[str, list[_native.GraphBytes]]:
    """By the expression of a container that can be detached: its elements, whose graphs keep much,
    alone or with others."""
    namespace = look.watcher.shell.user_ns
    found = containers_of_graphs(look.heap.graphs(LEAST_BYTES, shared=True, together=True))
    return {way: graphs for way, graphs in found.items() if detaching(namespace, way)}


def held_by(
    look: Look,
    members: Iterable[Carried],
    elements: Iterable[int] = (),
    everywhere: bool = False,
) -> int:
    """What would be freed if all of them were detached where they stand, or everywhere. elements: by id()."""
    together = list(members)
    namespace = look.watcher.shell.user_ns
    tuples = [it for member in together for it in tuples_to(namespace, member.way)]
    # Another place keeps the old tuple, whatever is put in its own.
    if any(look.heap.holders_of(it) > 1 for it in tuples):
        return 0
    tensors = [*(id(it.tensor) for it in together), *elements]
    return look.heap.freed_by_detaching(tensors, everywhere)


def ways_in_sight(look: Look, it: Carried) -> list[str]:
    """The expressions that a tensor stands at, its own first: a state may be the last of a deque too."""
    if look.heap.holders_of(it.tensor) < 2:
        return [it.way]
    namespace = look.watcher.shell.user_ns
    found = look.heap.ways_besides(it.tensor, [], _MOST)
    others = [way for way in found if is_the_users(way) and value_at(namespace, way) is it.tensor]
    return list(dict.fromkeys([it.way, *others]))


def ways_to(look: Look, tensor: Any) -> list[str]:
    """All expressions that a tensor stands at; empty where it has other holders too."""
    namespace = look.watcher.shell.user_ns
    found = look.heap.ways_besides(tensor, [], _MOST)
    ways = [way for way in found if is_the_users(way) and value_at(namespace, way) is tensor]
    return ways if len(ways) == look.heap.holders_of(tensor) else []


def _with_passes(look: Look, graphs: list[_native.GraphBytes]) -> Iterable[Carried]:
    if not graphs:
        return
    from xleak import _torch

    tensors = tensors_by_id(look)
    for graph in graphs:
        tensor = tensors.get(graph.tensor)
        if tensor is not None:
            passes = _torch.passes(tensor)
            yield Carried(graph.way, tensor, graph.own, graph.storages, passes)
