"""Tensors that were made since a moment and are alive: by serial number, without keeping any."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.render.units import human_bytes
from xleak.shell.fields import loaded_class
from xleak.shell.own_ref import OwnRef
from xleak.watching import user_frames
from xleak.watching.marks import TensorFacts, tensor_facts

# An id() is used again once its object is gone; a number never is.
_serials = itertools.count(1)


@dataclass(frozen=True)
class NewTensor:
    """One that came. holder: the way to it; empty where no name and no module leads to it."""

    serial: int
    facts: TensorFacts
    holder: str

    def __str__(self) -> str:
        held = self.holder or "native code, a running function or garbage"
        return f"#{self.serial} {human_bytes(self.facts.bytes)} {self.facts}, held by {held}"


class Baseline:
    """What there was when this was made. Only weak references."""

    def __init__(self) -> None:
        self._known = _weakly(_live_tensors())
        self._serials: dict[int, tuple[OwnRef[Any], int]] = {}

    def new_tensors(self, names: list[dict[str, Any]] | None = None) -> list[NewTensor]:
        """Those that were made since, largest first. names: namespaces beside those of the running
        functions."""
        facts = tensor_facts()
        made = [it for it in _live_tensors() if id(it) in facts and not _is(self._known, it)]
        if not made:
            return []
        slots = user_frames.slots(names)
        roots = [("sys.modules", sys.modules)]
        heap = _native.HeapSnapshot.take(slots, roots, [], None, None)
        found = [
            NewTensor(self._serial_of(it), facts[id(it)], heap.way_to(it) if heap else "")
            for it in made
        ]
        return sorted(found, key=lambda it: it.facts.bytes, reverse=True)

    def _serial_of(self, tensor: Any) -> int:
        reference, serial = self._serials.get(id(tensor), (None, 0))
        if reference is None or reference() is not tensor:
            serial = next(_serials)
            self._serials[id(tensor)] = OwnRef(tensor), serial
        return serial


def told(tensors: list[NewTensor], most: int) -> list[str]:
    """A line for each of the largest, and one for the rest."""
    rest = tensors[most:]
    more = sum(it.facts.bytes for it in rest)
    lines = [str(it) for it in tensors[:most]]
    return lines + ([f"and {len(rest)} more, {human_bytes(more)}"] if rest else [])


def _live_tensors() -> list[Any]:
    base = loaded_class("torch._C", "TensorBase")
    if base is None:
        return []
    with _native.LiveObjects() as live:
        return live.instances(base)


def _weakly(tensors: list[Any]) -> dict[int, OwnRef[Any]]:
    return {id(it): OwnRef(it) for it in tensors}


def _is(known: dict[int, OwnRef[Any]], tensor: Any) -> bool:
    reference = known.get(id(tensor))
    return reference is not None and reference() is tensor
