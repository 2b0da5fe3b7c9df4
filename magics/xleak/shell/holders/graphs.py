"""Containers whose tensors keep their autograd graphs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.look import LEAST_BYTES, Look, may_be_released
from xleak.shell.holders.places import (
    container_of,
    in_deque,
    parent_of,
    place_of,
    value_at,
)
from xleak.shell.modules import is_module

# Fewer are a comparison of models, not a history.
_SEVERAL = 3
# Of what the graphs keep: less comes back where the tensors have other holders.
_ALONE = 0.95
# A number of any type.
SCALAR_BYTES = 16
# What has no graph stays as it is.
_BARE = "getattr(v, 'detach', lambda v=v: v)()"


class ContainersOfGraphs:
    """Containers of tensors that keep their graphs, once they outlived the cell that filled them:
    until then they may be summed and led back."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those that were there at an earlier cell too."""
        graphs = look.heap.graphs(LEAST_BYTES, together=True)
        rows = rows_of_graphs(look, graphs)
        # A list of lists is told once.
        alone = containers_of_graphs(graphs).items()
        found = {way: elements for way, elements in alone if container_of(way) not in rows} | rows
        containers = {
            way: elements
            for way, elements in found.items()
            if look.explained.isdisjoint((way, container_of(way)))
        }
        self._since = {way: self._since.get(way, look.cell) for way in containers}
        for way, elements in containers.items():
            if self._since[way] == look.cell:
                look.search_again()
            else:
                yield _holder(look, way, elements, self._since[way])


def _holder(look: Look, way: str, graphs: list[_native.GraphBytes], since: int) -> _native.Holder:
    kept = sum(graph.kept for graph in graphs)
    freed = look.heap.freed_by_detaching([graph.tensor for graph in graphs])
    alone = freed >= _ALONE * kept
    release = _releasing(look, way, graphs) if alone else ""
    largest = "autograd graphs" if alone else "autograd graphs of tensors that others hold too"
    scalar = all(graph.own <= SCALAR_BYTES for graph in graphs)
    kind = "graphs of scalars" if scalar else "graphs of tensors"
    return _native.Holder(kind, way, kept, since, largest, len(graphs), release)


def _releasing(look: Look, way: str, graphs: list[_native.GraphBytes]) -> str:
    namespace = look.watcher.shell.user_ns
    rows = {row for graph in graphs if (row := parent_of(graph.way)) != way}
    return detaching_rows(look, way) if rows else detaching(namespace, way)


def containers_of_graphs(
    found: list[_native.GraphBytes],
) -> dict[str, list[_native.GraphBytes]]:
    """By the expression of a container: those of the tensors that are its elements."""
    containers: dict[str, list[_native.GraphBytes]] = {}
    for graph in found:
        if may_be_released(way := container_of(graph.way)):
            containers.setdefault(way, []).append(graph)
    return {way: graphs for way, graphs in containers.items() if len(graphs) >= _SEVERAL}


def rows_of_graphs(
    look: Look, found: list[_native.GraphBytes]
) -> dict[str, list[_native.GraphBytes]]:
    """By the expression of a list or a dictionary of rows, such as `(epoch, loss)` or
    `{"loss": loss}`: those of the tensors that are in them."""
    namespace = look.watcher.shell.user_ns
    outer: dict[str, dict[str, list[_native.GraphBytes]]] = {}
    for graph in found:
        row = parent_of(graph.way)
        if may_be_released(way := container_of(row)) and _is_row(value_at(namespace, row)):
            outer.setdefault(way, {}).setdefault(row, []).append(graph)
    return {
        way: [graph for graphs in rows.values() for graph in graphs]
        for way, rows in outer.items()
        if len(rows) >= _SEVERAL and _are_together(namespace, way, rows)
    }


def _are_together(
    namespace: dict[Any, Any], way: str, rows: dict[str, list[_native.GraphBytes]]
) -> bool:
    """Whether rows are one history. Long lists under keys, such as `{"train": …, "test": …}`, are
    several."""
    is_short = all(len(graphs) < _SEVERAL for graphs in rows.values())
    return is_short or type(value_at(namespace, way)) is list


def _is_row(value: object) -> bool:
    is_object = is_users_class(type(value)) and not is_module(value)
    return is_object or _native.is_kind_of(value, (tuple, dict, list))


def detaching_rows(look: Look, way: str) -> str:
    """The same for the rows in a list; empty where they are of several kinds, or held elsewhere."""
    rows = value_at(look.watcher.shell.user_ns, way)
    parts = _native.values_of(rows) if type(rows) is list else []
    kinds = {id(type(row)) for row in parts}
    if kinds == {id(dict)}:
        return f"[row.update({{k: {_BARE} for k, v in row.items()}}) for row in {way}];"
    if kinds == {id(list)}:
        return f"[row.__setitem__(slice(None), [{_BARE} for v in row]) for row in {way}];"
    if kinds != {id(tuple)} or not all(look.heap.keeps(rows, row) for row in parts):
        return ""
    return f"{way}[:] = [tuple({_BARE} for v in row) for row in {way}]"


def detaching(namespace: dict[Any, Any], way: str) -> str:
    """Code that leaves a container its values and takes their graphs; empty where there is none."""
    container = value_at(namespace, way)
    if _native.is_kind_of(container, dict):
        return f"{way}.update({{k: {_BARE} for k, v in {way}.items()}})"
    if _native.is_kind_of(container, list):
        return f"{way}[:] = [{_BARE} for v in {way}]"
    if _native.is_kind_of(container, deque):
        return in_deque(way, _BARE)
    may_be_made_anew = type(container) is tuple and place_of(namespace, way) == way
    return f"{way} = tuple({_BARE} for v in {way})" if may_be_made_anew else ""
