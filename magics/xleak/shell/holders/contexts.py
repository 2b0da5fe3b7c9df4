"""Contexts of the user's autograd functions that keep tensors as attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell import torch_module
from xleak.shell.fields import class_fields, fields_of, loaded_class
from xleak.shell.holders.graphs import detaching
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.origin import module_of
from xleak.shell.holders.places import container_of
from xleak.shell.tensor_fields import is_tensor, tensor_class

_KIND = "context of results"
# Behind a container whose elements are meant.
_ITEMS = "[…]"


def context_type() -> Any:
    """What all contexts are instances of; None where torch was not imported."""
    return loaded_class("torch._C", "_FunctionBase")


def contexts_of_the_user(look: Look) -> list[Any]:
    """Those whose Function a cell defines."""
    base = context_type()
    module = _native.value_at(look.watcher.shell.user_ns, "__name__")
    if base is None or type(module) is not str:
        return []
    return [it for it in look.live.instances(base) if _module_of(it) == module]


def function_of(context: object) -> str:
    """The name of the class that the user wrote."""
    return _native.type_name(context).removesuffix("Backward")


def kept_contexts(look: Look) -> Iterator[_native.Holder]:
    """Those that kept results hold though the way back was gone: what `save_for_backward` was given
    is freed by then, what an attribute has is not."""
    contexts = [it for it in contexts_of_the_user(look) if _was_gone_back(it)]
    kept = look.heap.keeping(contexts, LEAST_BYTES)
    if sum(held for _, held in kept) < REPORTED_BYTES or not torch_module.load():
        return
    results = _results(look, [context for context, _ in kept])
    by_places: dict[tuple[str, ...], list[tuple[Any, int]]] = {}
    for context, held in kept:
        ways = results.get(id(context), [])
        if ways and all(is_the_users(way) and not way.startswith("Out[") for way in ways):
            places = tuple(sorted({_place(way) for way in ways}))
            by_places.setdefault(places, []).append((context, held))
    for places, its in by_places.items():
        held = sum(size for _, size in its)
        if held >= REPORTED_BYTES:
            names = ", ".join(place.removesuffix(_ITEMS) for place in places)
            release = "; ".join(filter(None, (_without_graph(look, place) for place in places)))
            what = _attribute(its[0][0])
            yield _native.Holder(_KIND, names, held, None, what, len(its), release)


def _place(way: str) -> str:
    """The container of a tensor, with a mark, or the tensor's own expression."""
    container = container_of(way)
    return container + _ITEMS if container else way


def _without_graph(look: Look, place: str) -> str:
    """Code that leaves the values and takes their graphs."""
    if place.endswith(_ITEMS):
        return detaching(look.watcher.shell.user_ns, place.removesuffix(_ITEMS))
    return f"{place} = {place}.detach()"


def _attribute(context: object) -> str:
    """`SoftClip.x`: the function's name, and the first of the attributes that is a tensor."""
    tensors = [name for name, value in fields_of(context).items() if is_tensor(value)]
    return f"{function_of(context)}.{tensors[0]}" if tensors else function_of(context)


def _module_of(context: object) -> str:
    """Where its Function was defined."""
    function = class_fields(type(context)).get("_forward_cls")
    return module_of(function) if _native.is_kind_of(function, type) else ""


def _was_gone_back(context: object) -> bool:
    """Whether backward() released what the context saved: torch then refuses to show it."""
    saved: Any = class_fields(context_type()).get("_raw_saved_tensors")
    try:
        saved.__get__(context)
    except RuntimeError:
        return True
    return False


def _results(look: Look, contexts: list[Any]) -> dict[int, list[str]]:
    """By id of a context: the ways to the tensors whose graphs have it, but those of contexts."""
    from xleak import _torch

    with_graph = {it for row in _torch.census() if row.grad_fn for it in row.tensors}
    tensors = [it for it in look.live.instances(tensor_class()) if id(it) in with_graph]
    inner = {id(it) for it in look.heap.only_in_graphs(tensors)}
    inner |= {id(it) for it in tensors if any(look.heap.keeps(by, it) for by in contexts)}
    results: dict[int, list[str]] = {}
    for tensor in tensors:
        for context in _torch.graph(tensor).contexts if id(tensor) not in inner else []:
            results.setdefault(context, []).append(look.heap.way_to(tensor))
    return results
