"""The largest live tensors: whose they are, and how their elements lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xleak import _native
from xleak.shell import torch_module
from xleak.shell.holders.look import is_the_users
from xleak.shell.holders.places import as_written
from xleak.shell.tensor_fields import tensor_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xleak import _torch


@dataclass(frozen=True)
class LiveTensor:
    """A storage and the names that lead to tensors of it."""

    bytes: int
    device: str
    dtype: str
    """As C++ names it."""
    shape: tuple[int, ...]
    """Of the largest of its tensors; -1 is symbolic."""
    cell: int | None
    names: list[tuple[str, str]]
    """(expression, layout) of each; a layout is "contiguous", "channels last", "strided" or ""."""


def largest_tensors(heap: _native.HeapSnapshot, most: int) -> list[LiveTensor]:
    """Those with most bytes; none without xleak's module for torch. heap: taken before."""
    if not torch_module.load():
        return []
    from xleak import _torch

    rows = sorted(_torch.census(), key=lambda row: (-row.storage.bytes, row.storage.key))[:most]
    wanted = {tensor for row in rows for tensor in row.tensors}
    # After the snapshot, to which it would be a holder of everything.
    with _native.LiveObjects() as live:
        found = [it for it in live.instances(tensor_class()) if id(it) in wanted]
        ways = {id(it): as_written(heap.way_to(it)) for it in found}
        del found
    return [_tensor(row, ways) for row in rows]


def _tensor(row: _torch.StorageRow, ways: dict[int, str]) -> LiveTensor:
    names = sorted(_names(row, ways), key=lambda it: len(it[0]))
    it = row.storage
    return LiveTensor(it.bytes, it.device, row.dtype, tuple(row.shape), it.cell or None, names)


def _names(row: _torch.StorageRow, ways: dict[int, str]) -> Iterator[tuple[str, str]]:
    for tensor, layout in zip(row.tensors, row.layouts, strict=True):
        if is_the_users(way := ways.get(tensor, "")):
            yield way, layout
