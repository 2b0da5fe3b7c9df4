"""Containers whose tensors keep their autograd graphs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xleak import _native
from xleak.shell.holders.look import LEAST_BYTES, Look, is_the_users

# Fewer are a comparison of models, not a history.
_SEVERAL = 3
# A number of any type.
SCALAR_BYTES = 16
# The last step into a list, a tuple or a dictionary.
_ELEMENT = re.compile(r"(.+)(?:\[\d+\]|\['[^'\\]*'\])")


class ContainersOfGraphs:
    """Containers of tensors that keep their graphs, once they outlived the cell that filled them:
    until then they may be summed and led back."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those that were there at an earlier cell too."""
        containers = {
            way: graphs
            for way, graphs in containers_of_graphs(look.heap).items()
            if look.explained.isdisjoint((way, _container_of(way)))
        }
        self._since = {way: self._since.get(way, look.cell) for way in containers}
        for way, graphs in containers.items():
            if self._since[way] == look.cell:
                look.search_again()
            else:
                yield _holder(way, graphs, self._since[way])


def _holder(way: str, graphs: list[_native.GraphBytes], since: int) -> _native.Holder:
    kept = sum(graph.kept for graph in graphs)
    scalar = all(graph.own <= SCALAR_BYTES for graph in graphs)
    kind = "graphs of scalars" if scalar else "graphs of tensors"
    return _native.Holder(kind, way, kept, since, "autograd graphs", len(graphs), detaching(way))


def containers_of_graphs(heap: _native.HeapSnapshot) -> dict[str, list[_native.GraphBytes]]:
    """By the expression of a container: those of its elements whose graphs keep much."""
    containers: dict[str, list[_native.GraphBytes]] = {}
    for graph in heap.graphs(LEAST_BYTES):
        element = _ELEMENT.fullmatch(graph.way)
        if element and is_the_users(element.group(1)):
            containers.setdefault(element.group(1), []).append(graph)
    return {way: graphs for way, graphs in containers.items() if len(graphs) >= _SEVERAL}


def _container_of(way: str) -> str:
    """What a container is an element of, where it is one."""
    element = _ELEMENT.fullmatch(way)
    return element.group(1) if element else way


def detaching(way: str) -> str:
    """Code that leaves a list or a dictionary its values and takes their graphs."""
    bare = "getattr(v, 'detach', lambda v=v: v)()"
    return (
        f"{way}.update({{k: {bare} for k, v in {way}.items()}}) if isinstance({way}, dict) "
        f"else {way}.__setitem__(slice(None), [{bare} for v in {way}])"
    )
