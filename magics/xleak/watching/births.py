"""At which lines of the user's the tensors are made that stay: followed for a few steps."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from xleak import _native
from xleak.shell.fields import loaded_class
from xleak.shell.holders import origin
from xleak.shell.own_ref import OwnRef
from xleak.watching import user_frames

# (file, line, how many tensors it made that stayed).
Place = tuple[str, int, int]

# So many steps are followed, and what then lives must live after as many again: the tensors of a step
# that goes on do not.
STEPS = 8
_MOST = 3


class Births:
    """One time of following; none where somebody else does it, or torch is not there."""

    def __init__(self, step: int) -> None:
        base = loaded_class("torch", "Tensor")
        libraries = [*origin.libraries(), user_frames.OWN, "<frozen"]
        size: int = type.__dict__["__basicsize__"].__get__(base) if base is not None else 0
        self._first = step
        self._follows = bool(size) and _native.follow_births(size, libraries)
        self.next_step: int = step + STEPS if self._follows else sys.maxsize
        """step() does nothing before it, nor once it has done it."""
        self._made: list[tuple[OwnRef[Any], tuple[str, int]]] = []

    def step(self, step: int) -> None:
        """A step is over."""
        if step >= self.next_step:
            with _native.LiveObjects() as live:
                tensors = live.instances(loaded_class("torch._C", "TensorBase"))
                self._made = [
                    (OwnRef(it), place) for it in tensors if (place := _native.birth_place(id(it)))
                ]
            self.stop()

    def places(self, step: int) -> list[Place]:
        """Those that left a tensor in nearly each step; none before that is known."""
        if step < self._first + 2 * STEPS:
            return []
        stayed = Counter(place for tensor, place in self._made if tensor() is not None)
        return [(*place, count) for place, count in stayed.most_common(_MOST) if count >= STEPS - 1]

    def stop(self) -> None:
        """Follows no more; a second call does nothing."""
        if self._follows:
            self._follows = False
            self.next_step = sys.maxsize
            _native.end_births()
