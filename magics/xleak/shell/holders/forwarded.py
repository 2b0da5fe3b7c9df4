"""In which mode of its model a forward pass was made, by the graph that it left."""

from __future__ import annotations

import ast
import functools
from types import ModuleType
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, loaded_class
from xleak.shell.holders.calls import calls_in, dotted, meant_by, methods_called, nodes_of
from xleak.shell.holders.look import Look
from xleak.shell.modules import entries_of, live_modules, parts_of

# By such a call the session shows that its models are trained, or that it wants other gradients.
_TRAINING = {"backward", "fit", "train", "manual_backward", "step", "requires_grad_"}
_TRAINING |= {"retain_grad", "zero_grad"}
_LOADING = {"load_state_dict", "from_pretrained"}
_LOADERS = ("torch", "torch.hub")
# A second way back through a graph may be on its way.
_LED_BACK_AGAIN = ("retain_graph", "create_graph")
# Who asks for what is inside a pass may want its gradients.
_HOOKS = ("_forward_hooks", "_backward_hooks", "_backward_pre_hooks")


class Models:
    """The modules of one look, by their parameters. Not to be kept."""

    def __init__(self, look: Look) -> None:
        from xleak import _torch

        self._modules = live_modules(look.live)
        rows = _torch.census()
        self._tensors = {row.storage.key: row.tensors for row in rows}
        self._have_gradients = any(row.is_gradient for row in rows)
        self._owners: dict[int, list[Any]] = {}
        for module in self._modules:
            for parameter in entries_of(module, "_parameters").values():
                self._owners.setdefault(id(parameter), []).append(module)
        optimizer = loaded_class("torch.optim.optimizer", "Optimizer")
        self._have_optimizers = optimizer is not None and len(look.live.instances(optimizer)) > 0

    def were_trained(self) -> bool:
        """Whether there is an optimizer, or a gradient of anything."""
        return self._have_optimizers or self._have_gradients

    def is_training(self, tensor: Any) -> bool | None:
        """Whether a model that made a tensor is in the mode of training; None where its graph leads
        to other leaves than parameters of models, or where somebody is after the gradients."""
        from xleak import _torch

        graph = _torch.graph(tensor)
        if graph.released or graph.hooks or not graph.parameters:
            return None
        owners: dict[int, Any] = {}
        for leaf in graph.parameters:
            tensors = self._tensors.get(leaf.key, [])
            found = [it for key in tensors for it in self._owners.get(key, [])]
            if not found:
                return None
            owners |= {id(it): it for it in found}
        if self._have_hooks(set(owners)):
            return None
        return any(fields_of(it).get("training") is not False for it in owners.values())

    def _have_hooks(self, owners: set[int]) -> bool:
        """Whether a model that has one of these modules has hooks anywhere."""
        hooked = [it for it in self._modules if any(entries_of(it, name) for name in _HOOKS)]
        if not hooked:
            return False
        known = {id(it) for it in hooked}
        models = ({id(part) for part in parts_of(it)} for it in self._modules)
        return any(parts & known and parts & owners for parts in models)


def may_be_led_back(look: Look, since: int) -> bool:
    """Whether the user goes through graphs more than once: what was not released is wanted yet."""
    return any(
        word in source and (cell >= since or "def " in source)
        for cell, source in look.sources.items()
        for word in _LED_BACK_AGAIN
    )


def was_set_to_evaluate(look: Look) -> bool:
    """Whether the user chose the mode of evaluation: transformers come in it from their hub."""
    called = methods_called(look.sources.values())
    return bool(called & {"eval", "train"}) or "from_pretrained" not in called


def only_predicts(look: Look) -> bool:
    """Whether the executed cells load weights and train nothing."""
    sources = look.sources.values()
    called = methods_called(sources)
    if called & _TRAINING or any("autograd" in name for it in sources for name in calls_in(it)):
        return False
    if called & _LOADING or any(map(_names_weights, sources)):
        return True
    names = {name for it in sources for name in calls_in(it) if name.endswith(".load")}
    entries = _native.entries_of(look.watcher.shell.user_ns) if names else {}
    owners = (meant_by(name.rpartition(".")[0], entries) for name in names)
    modules = [_native.fields_of_module(path) for path in _LOADERS]
    return any(vars(it) is known for it in owners if type(it) is ModuleType for known in modules)


def turns(source: str) -> bool:
    """Whether a cell has a loop."""
    loops = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
    return any(isinstance(it, loops) for it in nodes_of(source))


@functools.lru_cache(256)
def _names_weights(source: str) -> bool:
    """`resnet50(weights="DEFAULT")`, `resnet50(pretrained=True)`."""
    calls = (it for it in nodes_of(source) if isinstance(it, ast.Call))
    return any(_is_of_weights(word) for call in calls for word in call.keywords)


def _is_of_weights(word: ast.keyword) -> bool:
    value = word.value.value if isinstance(word.value, ast.Constant) else None
    if word.arg == "pretrained":
        return value is True
    return word.arg == "weights" and (isinstance(value, str) or "Weights" in dotted(word.value))
