"""At which lines of the user's the tensors are made that stay: followed for a few steps."""

from __future__ import annotations

from collections import Counter

from xleak import _native
from xleak.shell.fields import loaded_class
from xleak.shell.holders import origin
from xleak.watching import user_frames

# Enough to tell what each step leaves from what one step does.
STEPS = 8
_MOST = 3


class Births:
    """One time of following; none where somebody else does it, or torch is not there."""

    def __init__(self, step: int) -> None:
        base = loaded_class("torch", "Tensor")
        libraries = [*origin.LIBRARIES, user_frames.OWN, "<frozen"]
        size: int = type.__dict__["__basicsize__"].__get__(base) if base else 0
        self._ends_at = step + STEPS
        self._goes_on = bool(size) and _native.follow_births(size, libraries)

    def over(self, step: int) -> bool:
        """Whether it has gone on for long enough."""
        return self._goes_on and step >= self._ends_at

    def end(self) -> list[tuple[str, int, int]]:
        """(file, line, tensors) of those that left one in most of the steps; a second call returns
        nothing."""
        if not self._goes_on:
            return []
        with _native.LiveObjects() as live:
            tensors = live.instances(loaded_class("torch._C", "TensorBase"))
            places = Counter(it for t in tensors if (it := _native.birth_place(id(t))))
        self.stop()
        stay = [(*place, count) for place, count in places.most_common(_MOST)]
        return [it for it in stay if it[2] >= STEPS // 2]

    def stop(self) -> None:
        """Ends it without an answer."""
        if self._goes_on:
            self._goes_on = False
            _native.end_births()
