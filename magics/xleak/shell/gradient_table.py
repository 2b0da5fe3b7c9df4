"""TensorFlow's table of gradients: a graph that a gradient was written for stays in it for good, with the
variables that it uses. Training by Keras writes one for each model."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import is_instance, loaded_class, slot_of

LABEL = "TensorFlow's table of gradients"
_OPS = "tensorflow.python.framework.ops"
_FUNCTION = ("tensorflow.python.framework.func_graph", "FuncGraph")
_MADE = "CustomGradient-"
# As tensorflow/core/framework/types.proto numbers it.
_RESOURCE = 20


def table() -> dict[Any, Any]:
    """By name what is registered; empty where TensorFlow is not there, or keeps it otherwise."""
    module = _native.fields_of_module(_OPS)
    found = slot_of(module.get("gradient_registry"), "_registry")
    return found if type(found) is dict else {}


def is_made(name: object) -> bool:
    """Whether a name is of a gradient for one graph, not for all operations of a kind."""
    return type(name) is str and name.startswith(_MADE)


def slots() -> Iterator[tuple[dict[Any, Any], object, str]]:
    """(table, name, label) for a snapshot."""
    entries = table()
    return ((entries, name, LABEL) for name in _native.names_in(entries) if is_made(name))


def variables_of(name: str) -> list[Any]:
    """The handles of the variables that the graph of an entry uses."""
    entry = _native.value_at(_native.value_at(table(), name), "type")
    result = _captured(entry, "tape_grad_fn", "result")
    first = next(iter(_native.values_of(result)), result)
    if not is_instance(first, _OPS, "SymbolicTensor"):
        return []
    graph, eager = outermost(first.graph), loaded_class(_OPS, "EagerTensor")
    if not is_instance(graph, *_FUNCTION):
        return []
    captured = [it for it in graph.external_captures if type(it) is eager]
    return [it for it in captured if it._datatype_enum() == _RESOURCE]


def outermost(graph: Any) -> Any:
    """Of the graph of a branch, a loop or an inner function that of the function."""
    outer = graph.outer_graph if is_instance(graph, *_FUNCTION) else None
    return outermost(outer) if is_instance(outer, *_FUNCTION) else graph


def _captured(function: object, *names: str) -> Any:
    """What a function captured under a name, and that in turn under the next."""
    for name in names:
        if type(function) is not types.FunctionType or name not in function.__code__.co_freevars:
            return None
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            function = cell.cell_contents
        except ValueError:
            return None
    return function
