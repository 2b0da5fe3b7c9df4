"""What a panel may ask: names, the way to a value, live tensors, devices. Each gives the answer's
fields, or raises Refused."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.panel.progress import Progress
from xleak.panel.requests import Refused
from xleak.shell import torch_module
from xleak.shell.caches import DISPLAY_HOOK, HIDDEN, LAST_RESULT
from xleak.shell.heap import NameFacts, label_of, largest_names, take_snapshot, values_by_label
from xleak.shell.holders.look import is_the_users
from xleak.shell.other_processes import others_by_process
from xleak.shell.readings import device_readings
from xleak.shell.release import forget
from xleak.shell.tensor_fields import tensor_class
from xleak.shell.watcher import printable

if TYPE_CHECKING:
    from xleak import _torch
    from xleak.shell.watcher import Watcher

Fields = dict[str, Any]

_MOST_NAMES = 200
_PER_PAGE = 100
# Who looks for one of them finds it by one way as well.
_MOST_WAYS = 5

# Where the shell has what Out has; nobody misses it there.
_WITHIN_THE_SHELL = (HIDDEN, DISPLAY_HOOK, LAST_RESULT)

# A step of a way as the snapshot writes it; what is no step of these stays as it is.
_STEP = re.compile(r"\['.*?'\](?=[.\[ ]|$)|\[[^\]]*\]|\.\w+| → [^.\[]+|[^.\[ ]+|.", re.DOTALL)

_DTYPES = {
    "Half": "float16",
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "signed char": "int8",
    "unsigned char": "uint8",
}


def names(watcher: Watcher, progress: Progress) -> Fields:
    """What each name holds, most first."""
    heap = _heap(watcher, progress)
    facts = largest_names(watcher, heap, _MOST_NAMES, least_bytes=0, on_name=progress.at)
    # A thread may have taken some away since.
    left_out = max(0, len(values_by_label(watcher)) - len(facts))
    return {"names": [_name_shape(fact) for fact in facts], "left_out": left_out}


def path(watcher: Watcher, progress: Progress, name: str) -> Fields:
    """The way from a name to the largest value that goes with it, and who else is concerned."""
    try:
        label = label_of(watcher, name)
        # Before the value is looked at, which would be one more reference to it.
        heap = _heap(watcher, progress)
        result = forget(name, dry_run=True, heap=heap)
    except ValueError as error:
        raise Refused(f"{error}.") from None
    ways = [way for way, _ in heap.largest(label, 1)]
    also = [it for it in result.dropped if it not in (name, *_WITHIN_THE_SHELL)]
    also = [it for it in also if not watcher.caches.is_cache_key(it)]
    also += [holder.strip("`") for holder in result.holders]
    return {
        "name": name,
        "path": steps_of(ways[0]) if ways else [label],
        "releasable_bytes": sum(result.freed.values()) + result.unknown_bytes,
        "also": [printable(it) for it in dict.fromkeys(also)],
    }


def census(watcher: Watcher, progress: Progress, page: int) -> Fields:
    """One page of the storages of live tensors, most bytes first; pages count from 1."""
    if "torch" not in sys.modules:
        return {"page": page, "pages": 0, "storages": []}
    if not torch_module.load():
        raise Refused(torch_module.why_missing() or "torch is not ready.")
    from xleak import _torch

    rows = sorted(_torch.census(), key=lambda row: (-row.storage.bytes, row.storage.key))
    shown = rows[(page - 1) * _PER_PAGE : page * _PER_PAGE]
    ways = _ways(watcher, progress, {it for row in shown for it in row.tensors})
    storages = [_storage_shape(row, ways) for row in shown]
    return {"page": page, "pages": math.ceil(len(rows) / _PER_PAGE), "storages": storages}


def devices() -> Fields:
    """What the frameworks hold of each device, and other processes."""
    others = others_by_process()
    rows = []
    for reading in device_readings():
        beside = others.get(reading.device)
        rows.append(
            {
                "device": reading.device,
                "allocated_bytes": reading.allocated,
                "reserved_bytes": reading.reserved,
                "inactive_split_bytes": reading.inactive_split,
                "total_bytes": reading.total,
                "others": None if beside is None else [it._asdict() for it in beside],
            }
        )
    return {"devices": rows}


def steps_of(way: str) -> list[str]:
    """A way, a step an item: `model.layers[3]` is model, .layers, [3]."""
    label = re.match(r"Out\[\d+\]|(?:(?! → )[^.\[])*", way)
    start = label.end() if label else 0
    return [it for it in (way[:start], *_STEP.findall(way[start:])) if it]


def _heap(watcher: Watcher, progress: Progress) -> _native.HeapSnapshot:
    heap = take_snapshot(watcher, interrupted=progress.goes_on)
    if heap is None:
        raise Refused("The search through the heap was interrupted.")
    return heap


def _name_shape(fact: NameFacts) -> Fields:
    largest = max(fact.devices, key=lambda device: fact.devices[device], default=None)
    return {
        "name": fact.label,
        "type": printable(fact.type_name),
        "retained_bytes": fact.retained,
        "shallow_bytes": fact.own,
        "shared_bytes": fact.shared,
        "device": largest,
    }


def _ways(watcher: Watcher, progress: Progress, tensors: set[int]) -> dict[int, str]:
    """How the user's names and outputs lead to tensors, by their ids."""
    base = tensor_class()
    if not tensors or base is None:
        return {}
    # The snapshot comes first: the list of all would hold everything.
    heap = _heap(watcher, progress)
    with _native.LiveObjects() as live:
        found = [it for it in live.instances(base) if id(it) in tensors]
        ways = {id(it): heap.way_to(it) for it in found}
        del found
    return {tensor: way for tensor, way in ways.items() if is_the_users(way)}


def _storage_shape(row: _torch.StorageRow, ways: dict[int, str]) -> Fields:
    return {
        "bytes": row.storage.bytes,
        "dtype": dtype_name(row.dtype),
        "shape": list(row.shape),
        "device": row.storage.device,
        "cell": row.storage.cell or None,
        "requires_grad": row.requires_grad,
        "grad_fn": row.grad_fn,
        "names": _first(ways[tensor] for tensor in row.tensors if tensor in ways),
    }


def dtype_name(in_cpp: str) -> str:
    """A type as torch's users write it."""
    name = in_cpp.removeprefix("c10::")
    return _DTYPES.get(name) or name.lower()


def _first(ways: Iterable[str]) -> list[str]:
    return sorted(set(ways), key=len)[:_MOST_WAYS]
