"""Large arrays that tf.function wrote into the graphs of a function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.fields import fields_of, instances, loaded_class
from xleak.shell.gradient_table import outermost
from xleak.shell.holders.look import LEAST_BYTES, Look, is_the_users
from xleak.shell.holders.tf_functions import Compiled, compiled_functions
from xleak.shell.own_ref import OwnRef


@dataclass(frozen=True)
class _Constants:
    """The large ones of one graph, which is complete once it was traced."""

    graph: OwnRef[Any]
    bytes: int
    largest_bytes: int
    largest: str
    cell: int


class GraphConstants:
    """Told by the function that was traced, all of its graphs together."""

    def __init__(self) -> None:
        self._known: dict[int, _Constants] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each function that a name leads to."""
        if loaded_class("tensorflow.python.framework.func_graph", "FuncGraph") is None:
            return
        large = self._large(look)
        if not large:
            return
        for function in compiled_functions(look.live):
            owned = {id(graph) for graph in _graphs_of(function)}
            found = [it for root, it in large if id(root) in owned]
            if not found or not look.heap.is_reached(function.object):
                continue
            way = look.heap.way_to(function.object)
            held, since = sum(it.bytes for it in found), min(it.cell for it in found)
            largest = max(found, key=lambda it: it.largest_bytes).largest
            count = len(owned)
            # A method's function is found by its object, in a table of TensorFlow's.
            label = (
                way if is_the_users(way) else f"{_name_of(function)}, from {name_of_run(since)} on"
            )
            yield _native.Holder("graph constants", label, held, since, largest, count, "")

    def _large(self, look: Look) -> list[tuple[Any, _Constants]]:
        """(outermost graph, constants) of the graphs that have some."""
        graphs = list(instances(look.live, "tensorflow.python.framework.func_graph", "FuncGraph"))
        before, self._known = self._known, {}
        for graph, _ in graphs:
            known = before.get(id(graph))
            if known is None or known.graph() is not graph:
                known = _constants_of(graph, look.cell)
            self._known[id(graph)] = known
        read = [(graph, self._known[id(graph)]) for graph, _ in graphs]
        return [(outermost(graph), it) for graph, it in read if it.bytes]


def _name_of(function: Compiled) -> str:
    name = function.fields.get("_name")
    return name if type(name) is str and name.isprintable() else "a function"


def _graphs_of(function: Compiled) -> Iterator[Any]:
    for concrete in list(dict.values(function.traces)):
        yield fields_of(concrete).get("_func_graph")


def _constants_of(graph: Any, cell: int) -> _Constants:
    sizes = [_size_of(it) for it in graph.get_operations() if it.type == "Const"]
    large = [it for it in sizes if it[0] >= LEAST_BYTES]
    largest = max(large, default=(0, ""))
    held = sum(size for size, _ in large)
    return _Constants(OwnRef(graph), held, largest[0], largest[1], cell)


def _size_of(constant: Any) -> tuple[int, str]:
    """(bytes, type and shape) of a constant's value."""
    output = constant.outputs[0]
    # Texts lie elsewhere, however long.
    count = output.shape.num_elements() if output.dtype.name != "string" else None
    return (count or 0) * output.dtype.size, f"{output.dtype.name}{output.shape}"
