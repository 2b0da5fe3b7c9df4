"""How often weights of torch were written, by their own counters of changes in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.fields import loaded_class
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.look import Look
from xleak.shell.own_ref import OwnRef
from xleak.shell.tensor_fields import tensor_field


class WeightChanges:
    """Compares each look with the one before. Holds weak references and numbers."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._seen: dict[int, tuple[OwnRef[object], int]] = {}
        self._seen_after = 0

    def since_last(self, look: Look) -> int:
        """Changes of the weight that changed most in the last cell that trained; 0 where nobody
        knows how many came before it."""
        versions = list(weight_versions(look.live))
        trained_before = max((it for it in self._counts.recorded if it < look.cell), default=0)
        known = self._seen_after >= trained_before
        most = max((self._changes(*it) for it in versions), default=0) if known else 0
        self._seen = {id(it): (OwnRef(it), version) for it, version in versions}
        self._seen_after = look.cell
        return most

    def _changes(self, weight: object, version: int) -> int:
        ref, before = self._seen.get(id(weight), (None, 0))
        return version - before if ref is not None and ref() is weight else version


def weight_versions(live: _native.LiveObjects) -> Iterator[tuple[Any, int]]:
    """(weight, counter of changes) of all parameters."""
    base = loaded_class("torch.nn.parameter", "Parameter")
    if base is None:
        return
    for weight in live.instances(base):
        try:
            yield weight, tensor_field(weight, "_version")
        except RuntimeError:
            # Those of inference mode count nothing.
            continue
