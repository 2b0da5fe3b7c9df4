"""Weights that `torch.nn.utils.prune` keeps beside the pruned ones, with their masks, once the pruning is over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.births import Birth, cause_of
from xleak.shell.fields import fields_of, instances, is_instance
from xleak.shell.heap import shown_values
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.places import as_written
from xleak.shell.holders.uses import first_name
from xleak.shell.tensor_fields import is_tensor, tensor_field

_PRUNE = "torch.nn.utils.prune"
# What torch calls the two, after the name of the weight.
_BEFORE, _MASK = "_orig", "_mask"


@dataclass(frozen=True)
class _Pruned:
    way: str
    """To the module."""
    names: list[str]
    """Of its pruned weights."""
    size: int
    """Bytes of the masks, and of the weights before pruning."""
    births: list[Birth]


class PrunedWeights(AtVerdict):
    """By the name that the modules are under. Each forward pass multiplies the two again, until `prune.remove` keeps
    the product alone."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each name."""
        found: dict[str, list[_Pruned]] = defaultdict(list)
        outputs = [label for label, _ in shown_values(look.watcher)]
        for module, fields in instances(look.live, "torch.nn.modules.module", "Module"):
            names = list(_pruned(fields))
            # Pruning a layer returns it, and a cell may have shown that.
            ways = look.heap.ways_besides(module, outputs, 1) if names else []
            way = as_written(ways[0]) if ways else ""
            if is_the_users(way):
                masks = [_native.value_at(fields.get("_buffers"), it + _MASK) for it in names]
                births = look.heap.births_of_own(masks)
                size = sum(_bytes(fields, name) for name in names)
                found[first_name(way)].append(_Pruned(way, names, size, births))
        for name, modules in found.items():
            modules.sort(key=lambda it: it.way)
            held = sum(it.size for it in modules)
            births = [birth for it in modules for birth in it.births]
            cause = cause_of(look.watcher.shell, births)
            last = max((cell for cell, _, _ in births), default=0)
            # What the last cell has pruned, the next may train.
            if held < REPORTED_BYTES or last >= look.watcher.last_cell or not is_asked(name):
                continue
            yield _native.Holder(
                "pruned weights",
                name,
                held,
                cause.cell if cause else None,
                f"{modules[0].way}.{modules[0].names[0]}",
                sum(len(it.names) for it in modules),
                _release(modules),
                line=cause.line if cause else None,
            )


def _pruned(fields: dict[str, Any]) -> Iterator[str]:
    """The names of the weights that a module with these attributes computes in each forward pass."""
    for hook in _native.values_of(fields.get("_forward_pre_hooks")):
        if is_instance(hook, _PRUNE, "BasePruningMethod"):
            name = fields_of(hook).get("_tensor_name")
            if type(name) is str:
                yield name


def _bytes(fields: dict[str, Any], name: str) -> int:
    kept = [
        _native.value_at(fields.get("_parameters"), name + _BEFORE),
        _native.value_at(fields.get("_buffers"), name + _MASK),
    ]
    return sum(tensor_field(it, "nbytes") for it in kept if is_tensor(it))


def _release(modules: list[_Pruned]) -> str:
    by_name: dict[str, list[str]] = defaultdict(list)
    for it in modules:
        for name in it.names:
            by_name[name].append(it.way)
    steps = [
        f"[{_PRUNE}.remove(m, {name!r}) for m in [{', '.join(ways)}]];"
        for name, ways in by_name.items()
    ]
    return f"import {_PRUNE}; {' '.join(steps)}"
