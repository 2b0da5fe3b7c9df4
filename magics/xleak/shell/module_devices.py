"""On which devices the tensors of modules and optimizers lie, read without asking them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, loaded_class
from xleak.shell.holders.look import is_the_users
from xleak.shell.holders.optimizers import live_optimizers, weights_of
from xleak.shell.holders.places import as_written
from xleak.shell.modules import entries_of, live_modules, outermost, parts_of
from xleak.shell.tensor_fields import is_tensor

# What accelerate sets on modules whose weights it brings from elsewhere for each pass.
OFFLOADED = ("_hf_hook", "hf_device_map")
_PARALLEL = (
    ("torch.nn.parallel.data_parallel", "DataParallel"),
    ("torch.nn.parallel.distributed", "DistributedDataParallel"),
)
UNKNOWN = "unknown (a tensor of another class)"


@dataclass(frozen=True)
class Placement:
    """What one module, or one optimizer, has where. Counts are tensors, by device."""

    name: str
    """The user's expression for it."""
    type_name: str
    by_part: Mapping[str, Mapping[str, int]]
    """"Parameters", "buffers", "plain attributes"; of an optimizer "weights" and "state"."""
    hints: list[str] = field(default_factory=list)
    """What does not fit together, a sentence each."""


def placements(heap: _native.HeapSnapshot, live: _native.LiveObjects) -> list[Placement]:
    """Of the modules and optimizers that a name of the user's leads to; modules in others are theirs."""
    found = [_of_module(it, way) for it, way in _named(outermost(live_modules(live)), heap)]
    optimizers = {id(it): fields for it, fields in live_optimizers(live)}
    kept = [it for it, _ in live_optimizers(live)]
    found += [_of_optimizer(it, optimizers[id(it)], way) for it, way in _named(kept, heap)]
    return sorted(found, key=lambda it: it.name)


def _named(objects: list[Any], heap: _native.HeapSnapshot) -> Iterator[tuple[Any, str]]:
    for it in objects:
        way = as_written(heap.way_to(it))
        if is_the_users(way):
            yield it, way


def _of_module(root: Any, way: str) -> Placement:
    parameters: Counter[str] = Counter()
    buffers: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    strays: list[tuple[str, str]] = []
    is_offloaded = False
    for part in parts_of(root):
        is_offloaded |= any(name in fields_of(part) for name in OFFLOADED)
        parameters.update(device_of(it) for it in _tensors(entries_of(part, "_parameters")))
        for entries, counts in ((entries_of(part, "_buffers"), buffers), (fields_of(part), plain)):
            for name, value in entries.items():
                if type(name) is str and is_tensor(value):
                    counts[device_of(value)] += 1
                    if has_dimensions(value):
                        strays.append((name, device_of(value)))
    hints = [] if is_offloaded else _hints_of_module(way, parameters, strays)
    by_part = {"Parameters": parameters, "buffers": buffers, "plain attributes": plain}
    return Placement(
        way, _native.type_name(root), by_part, [*hints, *_hints_of_parallel(root, parameters)]
    )


def _hints_of_module(
    way: str, parameters: Mapping[str, int], strays: list[tuple[str, str]]
) -> list[str]:
    if len(parameters) > 1:
        places = " and ".join(sorted(parameters))
        return [
            f"its Parameters lie on {places}: right for a model in parts, else a part was left behind"
        ]
    [device] = parameters or [""]
    return [
        f"{name} lies on {there}, its Parameters on {device}: .to() moves Parameters and buffers "
        "alone (self.register_buffer)"
        for name, there in strays
        if device and there not in (device, UNKNOWN)
    ]


def _hints_of_parallel(root: Any, parameters: Mapping[str, int]) -> list[str]:
    classes = [loaded_class(*it) for it in _PARALLEL]
    if not any(type(root) is it for it in classes if it is not None):
        return []
    ids = fields_of(root).get("device_ids")
    ids = _native.values_of(ids) if type(ids) is list else None
    if ids is None or any(type(it) is not int for it in ids):
        return []
    if not ids:
        return ["it wraps for no device: it calls its module as it is"]
    first = f"cuda:{ids[0]}"
    if type(root) is classes[0] and set(parameters) - {first}:
        return [f"DataParallel wants all Parameters on {first}"]
    return [f"it spreads over devices {', '.join(map(str, ids))}"]


def _of_optimizer(it: Any, fields: dict[str, Any], way: str) -> Placement:
    weights = Counter(device_of(weight) for weight in weights_of(fields))
    moments: Counter[str] = Counter()
    apart: Counter[tuple[str, str]] = Counter()
    state: Any = fields.get("state")
    for weight, entries in _native.items_of(state):
        if type(entries) is not dict:
            continue
        for value in _tensors(entries):
            moments[device_of(value)] += 1
            # Counts of steps stay on the host.
            if (
                has_dimensions(value)
                and is_tensor(weight)
                and device_of(value) != device_of(weight)
            ):
                apart[device_of(value), device_of(weight)] += 1
    hints = [
        f"{count} tensors of its state lie on {there}, their weights on {device}"
        for (there, device), count in apart.items()
    ]
    return Placement(way, _native.type_name(it), {"weights": weights, "state": moments}, hints)


def _tensors(entries: dict[Any, Any]) -> list[Any]:
    return [value for value in _native.values_of(entries) if is_tensor(value)]


def device_of(tensor: Any) -> str:
    """As torch writes it. A subclass may answer by code of the user's, and is not asked."""
    return str(tensor.device) if _is_exact(tensor) else UNKNOWN


def has_dimensions(tensor: Any) -> bool:
    """False also for a subclass, which is not asked."""
    return _is_exact(tensor) and tensor.dim() > 0


def _is_exact(tensor: object) -> bool:
    parameters = _native.fields_of_module("torch.nn.parameter")
    exact = (loaded_class("torch", "Tensor"), parameters.get("Parameter"), parameters.get("Buffer"))
    return any(type(tensor) is it for it in exact if it is not None)
