"""Replay and rollout memories whose tensors keep graphs, or memory of a device."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.fields import class_fields
from xleak.shell.holders.containers import Collection, collections_of, has_graph, is_users_class
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.sign_reader import Signs
from xleak.shell.holders.signs import SourceSigns
from xleak.shell.tensor_fields import is_tensor, tensor_field

_NAME = re.compile(r"replay|rollout|memory|buffer|transitions|trajector|experience", re.IGNORECASE)
# As many are a memory of steps, not the values of one update.
_MANY = 100
# A bound is no help where it is meant to be large; a short window is one.
_WINDOW = 64
_LARGE = 1000


class ReplayMemories:
    """Those that learn off the policy at once; others, which an update may still need with their
    graphs, once they outlived the cell that filled them."""

    def __init__(self, signs: SourceSigns) -> None:
        self._signs = signs
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each."""
        found = [(it, what) for it in _memories(look) if (what := _what_it_holds(it))]
        self._since = {it.way: self._since.get(it.way, look.cell) for it, _ in found}
        signs = self._signs.of_session(look) if found else Signs()
        for it, what in found:
            if it.name in signs.emptied:
                continue
            if self._since[it.way] == look.cell and not _is_sampled(it):
                look.search_again()
                continue
            kind = "large replay memory" if _limit_of(it) > _LARGE else "replay memory"
            since = self._signs.cell_that_fills(it.name) or self._since[it.way]
            release = f"{it.way}.clear()"
            yield _native.Holder(kind, it.way, it.kept, since, what, it.count, release)


def _memories(look: Look) -> Iterator[Collection]:
    for it in collections_of(look, with_limit=True):
        large = it.count >= _MANY and it.kept >= REPORTED_BYTES
        if large and not 0 < _limit_of(it) <= _WINDOW and (_is_named(it) or _is_sampled(it)):
            yield it


def _is_named(it: Collection) -> bool:
    names = [it.name, *map(_native.type_name, it.owners)]
    return any(_NAME.search(name) for name in names)


def _is_sampled(it: Collection) -> bool:
    """Whether it is a memory to draw from: what is drawn is computed again."""
    classes = [type(owner) for owner in it.owners if is_users_class(type(owner))]
    return "replay" in it.way.lower() or any("sample" in class_fields(cls) for cls in classes)


def _limit_of(it: Collection) -> int:
    """The maxlen of a deque; 0 where there is none."""
    limit: Any = deque.maxlen
    return limit.__get__(it.object) or 0 if type(it.object) is deque else 0


def _what_it_holds(it: Collection) -> str | None:
    tensors = [[part for part in _parts(entry) if is_tensor(part)] for entry in it.elements()]
    if sum(any(map(has_graph, entry)) for entry in tensors) >= _MANY:
        return "tensors with their autograd graphs"
    if sum(any(map(_is_on_device, entry)) for entry in tensors) >= _MANY:
        return "tensors on a device"
    return None


def _parts(entry: object) -> list[Any]:
    """The entry itself, or what a tuple, a dictionary or an object of one step has."""
    if is_tensor(entry):
        return [entry]
    # By tp_traverse alone.
    parts = gc.get_referents(entry)
    fields = [part for part in parts if type(part) is dict]
    return parts + [inner for part in fields for inner in _native.values_of(part)]


def _is_on_device(tensor: Any) -> bool:
    return not tensor_field(tensor, "is_cpu")
