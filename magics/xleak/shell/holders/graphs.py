"""Containers whose tensors keep their autograd graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.holders.look import LEAST_BYTES, Look, may_be_released
from xleak.shell.holders.places import container_of, place_of, value_at

# Fewer are a comparison of models, not a history.
_SEVERAL = 3
# Of what the graphs keep: less comes back where the tensors have other holders.
_ALONE = 0.95
# A number of any type.
SCALAR_BYTES = 16


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
            if look.explained.isdisjoint((way, container_of(way)))
        }
        self._since = {way: self._since.get(way, look.cell) for way in containers}
        for way, graphs in containers.items():
            if self._since[way] == look.cell:
                look.search_again()
            else:
                yield _holder(look, way, graphs, self._since[way])


def _holder(look: Look, way: str, graphs: list[_native.GraphBytes], since: int) -> _native.Holder:
    kept = sum(graph.kept for graph in graphs)
    freed = look.heap.freed_by_detaching([graph.tensor for graph in graphs])
    alone = freed >= _ALONE * kept
    release = detaching(look.watcher.shell.user_ns, way) if alone else ""
    largest = "autograd graphs" if alone else "autograd graphs of tensors that others hold too"
    scalar = all(graph.own <= SCALAR_BYTES for graph in graphs)
    kind = "graphs of scalars" if scalar else "graphs of tensors"
    return _native.Holder(kind, way, kept, since, largest, len(graphs), release)


def containers_of_graphs(
    heap: _native.HeapSnapshot, *, shared: bool = False
) -> dict[str, list[_native.GraphBytes]]:
    """By the expression of a container: those of its elements whose graphs keep much, alone or
    ``shared``."""
    containers: dict[str, list[_native.GraphBytes]] = {}
    for graph in heap.graphs(LEAST_BYTES, shared):
        if may_be_released(way := container_of(graph.way)):
            containers.setdefault(way, []).append(graph)
    return {way: graphs for way, graphs in containers.items() if len(graphs) >= _SEVERAL}


def detaching(namespace: dict[Any, Any], way: str) -> str:
    """Code that leaves a container its values and takes their graphs; empty where there is none."""
    container, bare = value_at(namespace, way), "getattr(v, 'detach', lambda v=v: v)()"
    if issubclass(type(container), dict):
        return f"{way}.update({{k: {bare} for k, v in {way}.items()}})"
    if issubclass(type(container), list):
        return f"{way}[:] = [{bare} for v in {way}]"
    may_be_made_anew = type(container) is tuple and place_of(namespace, way) == way
    return f"{way} = tuple({bare} for v in {way})" if may_be_made_anew else ""
