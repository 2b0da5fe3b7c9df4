"""Gradients that are part of an autograd graph themselves, as `create_graph=True` leaves them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell import torch_module
from xleak.shell.fields import class_fields, loaded_class
from xleak.shell.tensor_fields import tensor_class, untouched

if TYPE_CHECKING:
    from xleak import _torch


@dataclass(frozen=True)
class GraphGradient:
    """A leaf, such as a Parameter, and its gradient with a graph. Not to be kept."""

    leaf: Any
    gradient: Any


def gradients_with_graph(live: _native.LiveObjects) -> list[GraphGradient]:
    """Those of all live tensors."""
    if tensor_class() is None:
        return []
    base, found = class_fields(tensor_class()), []
    with untouched():
        for tensor in live.instances(tensor_class()):
            # Torch warns where another tensor than a leaf is asked for its gradient.
            gradient = base["grad"].__get__(tensor) if base["is_leaf"].__get__(tensor) else None
            if gradient is not None and base["grad_fn"].__get__(gradient) is not None:
                found.append(GraphGradient(tensor, gradient))
    return found


def orphaned_gradients(
    heap: _native.HeapSnapshot, live: _native.LiveObjects
) -> list[GraphGradient]:
    """Those of leaves that nothing but such a graph keeps: the leaf has the gradient, the gradient
    the graph and the graph the leaf, a cycle through C++. Empty without xleak's module for torch."""
    found = [it for it in gradients_with_graph(live) if not heap.is_reached(it.leaf)]
    alone = {id(leaf) for leaf in heap.only_in_graphs([it.leaf for it in found])}
    found = [it for it in found if id(it.leaf) in alone]
    if not found or _has_native_modules(live) or not torch_module.load():
        return []
    used = Graphs(heap, live).leaves_in_use()
    return [it for it in found if id(it.leaf) not in used]


def drop(gradients: list[GraphGradient]) -> None:
    """Sets `.grad` of the leaves to None, and empties the list, which keeps them too."""
    field = class_fields(tensor_class())["grad"]
    with untouched():
        for it in gradients:
            field.__set__(it.leaf, None)
    gradients.clear()


def _has_native_modules(live: _native.LiveObjects) -> bool:
    """Whether there are TorchScript modules, which have Parameters that Python does not see."""
    script = loaded_class("torch._C", "ScriptModule")
    return script is not None and bool(live.instances(script))


class Graphs:
    """What the graphs of live tensors keep. Needs xleak's module for torch. Not to be kept."""

    def __init__(self, heap: _native.HeapSnapshot, live: _native.LiveObjects) -> None:
        from xleak import _torch

        self._graphs: dict[int, _torch.Graph] = {}
        self._rows = _torch.census()
        tensors = live.instances(tensor_class())
        # Python objects that only a graph keeps are no owners of their own.
        self._inner = {id(it) for it in heap.only_in_graphs(tensors)}
        with_graph = {tensor for row in self._rows if row.grad_fn for tensor in row.tensors}
        self._tensors = [it for it in tensors if id(it) in with_graph - self._inner]

    def leaves_in_use(self) -> set[int]:
        """Ids of the leaves of graphs of tensors that something refers to."""
        leaves = {leaf.key for it in self._tensors for leaf in self._graph(it).parameters}
        return {it for row in self._rows if row.storage.key in leaves for it in row.tensors}

    def freed_with(self, tensors: Iterable[Any]) -> int:
        """Bytes that go with tensors and their graphs: what no other tensor and no other graph has."""
        gone = {id(tensor): tensor for tensor in tensors}
        inner = gone.keys() | self._inner
        freed = {
            row.storage.key: row.storage.bytes
            for row in self._rows
            if gone.keys() & set(row.tensors)
        }
        for tensor in gone.values():
            freed |= self._saved_by(tensor)
        kept = {row.storage.key for row in self._rows if set(row.tensors) - inner}
        for tensor in self._tensors:
            if id(tensor) not in gone:
                kept |= self._saved_by(tensor).keys()
        return sum(size for key, size in freed.items() if key not in kept)

    def _graph(self, tensor: Any) -> _torch.Graph:
        from xleak import _torch

        if id(tensor) not in self._graphs:
            self._graphs[id(tensor)] = _torch.graph(tensor)
        return self._graphs[id(tensor)]

    def _saved_by(self, tensor: Any) -> dict[int, int]:
        return {it.storage.key: it.storage.bytes for it in self._graph(tensor).saved}
