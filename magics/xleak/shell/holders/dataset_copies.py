"""Datasets of TensorFlow that each have a copy of the same arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.fields import instances, loaded_class
from xleak.shell.holders.look import REPORTED_BYTES, Look

_SOURCES = (
    ("tensorflow.python.data.ops.from_tensor_slices_op", "_TensorSliceDataset"),
    ("tensorflow.python.data.ops.from_tensors_op", "_TensorDataset"),
)
# A pair may be one to train with and one to look at.
_DATASETS = 3


@dataclass(frozen=True)
class _Source:
    """The arrays of one dataset. A later dataset of the same tensors has no copy."""

    tensors: list[Any]
    bytes: int
    kind: tuple[str, ...]
    """Type and shape of each."""
    addresses: tuple[int, ...]
    cell: int


class DatasetCopies:
    """Told by what they are copies of."""

    def __init__(self) -> None:
        self._since: dict[int, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each source that several datasets of one cell have copies of."""
        groups: dict[tuple[int, tuple[str, ...]], list[_Source]] = {}
        for it in self._sources(look):
            groups.setdefault((it.cell, it.kind), []).append(it)
        for (since, kind), members in groups.items():
            for same in _alike(members):
                held = sum(it.bytes for it in same) - same[0].bytes
                source = " and ".join(kind)
                label = f"datasets of {source}, from {name_of_run(since)} on"
                yield _native.Holder("dataset copies", label, held, since, source, len(same), "")

    def _sources(self, look: Look) -> Iterator[_Source]:
        before, self._since = self._since, {}
        seen = set()
        for module, name in _SOURCES:
            for dataset, fields in instances(look.live, module, name):
                tensors = fields.get("_tensors")
                if type(tensors) is not list or not look.heap.is_reached(dataset):
                    continue
                since = self._since[id(dataset)] = before.get(id(dataset), look.cell)
                source = _source_of(_native.values_of(tensors), since)
                if source and source.bytes >= REPORTED_BYTES and source.addresses not in seen:
                    seen.add(source.addresses)
                    yield source


def _source_of(tensors: list[Any], since: int) -> _Source | None:
    eager = loaded_class("tensorflow.python.framework.ops", "EagerTensor")
    if not tensors or any(type(it) is not eager for it in tensors):
        return None
    memory = [list(_buffers(it)) for it in tensors]
    if not all(memory):
        return None
    kind = tuple(f"{it.dtype.name}{it.shape}" for it in tensors)
    addresses = tuple(parts[0][0] for parts in memory)
    return _Source(tensors, sum(parts[0][1] for parts in memory), kind, addresses, since)


def _alike(members: list[_Source]) -> Iterator[list[_Source]]:
    """Those with the same numbers in them, three or more."""
    numpy = sys.modules["numpy"]
    left = members
    while len(left) >= _DATASETS:
        first, others = left[0], left[1:]
        same = [it for it in others if _is_copy(it, first, numpy)]
        if len(same) + 1 >= _DATASETS:
            yield [first, *same]
        left = [it for it in others if not any(it is one for one in same)]


def _is_copy(one: _Source, other: _Source, numpy: Any) -> bool:
    pairs = zip(one.tensors, other.tensors, strict=True)
    return all(_bytes_equal(a._numpy_internal(), b._numpy_internal(), numpy) for a, b in pairs)


def _bytes_equal(a: Any, b: Any, numpy: Any) -> bool:
    return bool(numpy.array_equal(a.view("u1"), b.view("u1")))


def _buffers(tensor: Any) -> Iterator[tuple[int, int]]:
    """(address, bytes) of the memory of an eager tensor; nothing where it has no numbers in the
    process's own memory."""
    numbers = tensor.dtype.is_numpy_compatible and tensor.dtype.name != "string"
    if numbers and tensor.backing_device.endswith("CPU:0"):
        # Shows the tensor's own memory.
        shown = tensor._numpy_internal()
        yield shown.__array_interface__["data"][0], shown.nbytes
