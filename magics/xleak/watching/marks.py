"""What may grow, counted at one step, so that a later look can tell what did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.originals import time
from xleak.shell import torch_module
from xleak.shell.fields import loaded_class
from xleak.shell.holders.containers import has_graph, is_collection
from xleak.watching import user_frames

# Graphs of several tensors may share all of their nodes: each walk reads them again.
_MOST_GRAPHS = 64
_GRAPHS_SECONDS = 0.2

# As C++ names them, where Python does not do the same.
_DTYPES = {
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "unsigned char": "uint8",
    "signed char": "int8",
}


@dataclass(frozen=True)
class TensorFacts:
    """What is told of a tensor."""

    shape: tuple[int, ...]
    dtype: str
    device: str
    bytes: int
    cell: int | None
    """The cell that made it; None outside of cells and where that was not seen."""

    def __str__(self) -> str:
        made = f", made in {name_of_run(self.cell)}" if self.cell else ""
        return f"{self.dtype} {self.shape} on {self.device}{made}"


@dataclass(frozen=True)
class Mark:
    """Numbers only: no object lives longer for it."""

    step: int
    lengths: dict[int, int]
    """Of the containers, by id()."""
    depth: int
    """Of the deepest graph: nodes on its longest chain."""
    groups: Counter[tuple[tuple[int, ...], str, str]]
    """How many tensors there are, by shape, dtype and device."""
    named: dict[str, int]
    """Bytes of the tensors that a name stands for."""


def take_mark(step: int) -> Mark:
    """What there is now. Runs no code of the user's; takes some tens of milliseconds."""
    facts = tensor_facts()
    with _native.LiveObjects() as live:
        lengths = {id(it): length(it) for it in collections(live)}
        depth = max((it[1] for it in depths(live)), default=0)
    groups = Counter((it.shape, it.dtype, it.device) for it in facts.values())
    return Mark(step, lengths, depth, groups, named_tensors(user_frames.slots(), facts))


def collections(live: _native.LiveObjects) -> list[Any]:
    """The built-in containers that may grow without end."""
    found = [it for base in (list, dict, set) for it in live.instances(base)]
    deques = loaded_class("collections", "deque")
    found += live.instances(deques) if deques is not None else []
    return [it for it in found if is_collection(it) and length(it)]


def length(collection: Any) -> int:
    """How many elements it has; a subclass is not asked."""
    return int(type(collection).__len__(collection))


def depths(live: _native.LiveObjects) -> list[tuple[Any, int]]:
    """(tensor, depth of its graph), of a sample where there are many."""
    base = loaded_class("torch._C", "TensorBase")
    if base is None or not torch_module.load():
        return []
    from xleak import _torch

    tensors = [it for it in live.instances(base) if has_graph(it)]
    until, found = time.thread_time() + _GRAPHS_SECONDS, []
    # What was made last is what goes back furthest.
    for tensor in list(reversed(tensors))[:: max(1, len(tensors) // _MOST_GRAPHS)]:
        found.append((tensor, _torch.graph(tensor).depth))
        if time.thread_time() > until:
            break
    return found


def tensor_facts() -> dict[int, TensorFacts]:
    """By id() of the tensor; none without xleak's module for torch."""
    if not torch_module.load():
        return {}
    from xleak import _torch

    found: dict[int, TensorFacts] = {}
    for row in _torch.census():
        dtype = _DTYPES.get(row.dtype, row.dtype.removeprefix("c10::").lower())
        storage = row.storage
        facts = TensorFacts(tuple(row.shape), dtype, storage.device, storage.bytes, storage.cell)
        found.update(dict.fromkeys(row.tensors, facts))
    return found


def named_tensors(slots: list[user_frames.Slot], facts: dict[int, TensorFacts]) -> dict[str, int]:
    """Bytes of the tensors that a name stands for."""
    found: dict[str, int] = {}
    for names in {id(it): it for it, _, _ in slots}.values():
        values = _native.entries_of(names)
        ids = {key: id(values[key]) for key in values}
        of_dict = [(label, ids.get(key, 0)) for owner, key, label in slots if owner is names]
        found |= {label: facts[value].bytes for label, value in of_dict if value in facts}
    return found
