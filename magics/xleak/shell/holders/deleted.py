"""Tensors that a cell let go of while an autograd graph keeps their memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell import torch_module
from xleak.shell.holders.carried import Carried, carried, held_by
from xleak.shell.holders.executed import names_let_go
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users, tensors_by_id
from xleak.shell.holders.passes import GraphsOfPasses
from xleak.shell.holders.places import as_written, replacing
from xleak.shell.tensor_fields import is_tensor

if TYPE_CHECKING:
    from xleak._torch import StorageWatch

_LETS_GO = re.compile(r"\bdel\b|=\s*None\b")


@dataclass(frozen=True)
class Deleted:
    """A name that a cell was to let go of, and the memory that its tensor had."""

    name: str
    cell: int
    memory: StorageWatch


class DeletedTensors:
    """Follows tensors from before the cell that deletes their names."""

    def __init__(self, graphs: GraphsOfPasses) -> None:
        self._graphs = graphs
        self._expected: list[tuple[str, StorageWatch]] = []
        self._deleted: list[Deleted] = []

    def before_cell(self, source: str, namespace: Mapping[str, Any]) -> None:
        """Notes the large tensors whose names the cell is to let go of. Keeps none alive."""
        self._expected = []
        if not _LETS_GO.search(source) or not torch_module.load():
            return
        from xleak import _torch

        entries = _native.entries_of(namespace)
        for name in sorted(names_let_go(source)):
            value = entries.get(name)
            if is_tensor(value):
                memory = _torch.watch(value)
                if sum(memory.alive().values()) >= REPORTED_BYTES:
                    self._expected.append((name, memory))

    def after_cell(self, index: int, namespace: Mapping[str, Any]) -> None:
        """Notes which of the names are gone."""
        if not self._expected:
            return
        entries = _native.entries_of(namespace)
        gone = [it for it in self._expected if entries.get(it[0]) is None]
        self._expected = []
        self._deleted += [Deleted(name, index, memory) for name, memory in gone]

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those whose memory a graph keeps at a later cell."""
        self._deleted = [it for it in self._deleted if it.memory.alive()]
        pool = carried(look) if self._deleted else []
        pool = [it for it in pool if it.way not in self._graphs.told]
        pool.sort(key=lambda it: (it.bytes, it.way))
        kept_by: dict[Carried, list[Deleted]] = {}
        for deleted in self._deleted:
            first = next((it for it in pool if _keeps(it, deleted)), None)
            if first and not _shown_to_the_user(look, deleted):
                kept_by.setdefault(first, []).append(deleted)
        for first, tensors in kept_by.items():
            if all(it.cell == look.cell for it in tensors):
                look.search_again()
            elif holder := _holder(look, first, tensors, pool):
                yield holder


def _keeps(it: Carried, deleted: Deleted) -> bool:
    return bool(it.storages.keys() & deleted.memory.alive().keys())


def _holder(
    look: Look, first: Carried, tensors: list[Deleted], pool: list[Carried]
) -> _native.Holder | None:
    keys = {key for it in tensors for key in it.memory.alive()}
    kept = sum(first.storages[key] for key in keys & first.storages.keys())
    members = [it for it in pool if any(_keeps(it, deleted) for deleted in tensors)]
    namespace, ways = look.watcher.shell.user_ns, [it.way for it in members]
    release = replacing(namespace, ways, lambda way: f"{way}.detach()")
    if release is None or held_by(look, members) < kept:
        return None
    holder = as_written(first.way)
    names = " and ".join(sorted({it.name for it in tensors}))
    largest = f"{names}, held by {_node_with(first, keys)} of {holder}"
    since = min(it.cell for it in tensors)
    return _native.Holder("deleted", holder, kept, since, largest, len(tensors), release)


def _node_with(holder: Carried, keys: set[int]) -> str:
    from xleak import _torch

    saved = _torch.graph(holder.tensor).saved
    return next(it.node for it in saved if it.storage.key in keys)


def _shown_to_the_user(look: Look, deleted: Deleted) -> bool:
    """Whether a name or the output cache leads to a tensor with its memory."""
    from xleak import _torch

    keys = deleted.memory.alive()
    shown = [it for row in _torch.census() if row.storage.key in keys for it in row.tensors]
    tensors = tensors_by_id(look)
    found = [tensors[it] for it in shown if it in tensors]
    return any(is_the_users(look.heap.way_to(it)) for it in found)
