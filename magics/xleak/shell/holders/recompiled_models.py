"""Keras models that a loop compiles again and again, by what their training traced again."""

from __future__ import annotations

from collections.abc import Iterator

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.holders.look import Look
from xleak.shell.holders.reruns import identity_of
from xleak.shell.holders.suspicions import Suspicion
from xleak.shell.holders.tf_functions import count_called, detectors, recent_traces

# What a model trains, tests and predicts with is one function each.
_FUNCTIONS = 4
_TRAINER = ("keras", "trainer.py")


class RecompiledModels:
    """Told until the cell runs again without. Where models come and go the counters are the same, so
    the source has to say so, too."""

    def __init__(self) -> None:
        self._suspicion = Suspicion("XL513")
        self._called = count_called()
        self._cells: dict[str, tuple[int, int]] = {}
        """By identity of a cell its run, and how many functions it had traced."""

    def after_cell(self, index: int, source: str) -> bool:
        """Whether the cell had many functions traced that Keras made, or no longer has."""
        before, self._called = self._called, count_called()
        made = self._called - before
        known = self._cells.pop(identity_of(index, source), None)
        if made >= _FUNCTIONS and _traces_of_trainers() >= _FUNCTIONS:
            since = index if known is None else known[0]
            self._cells[identity_of(index, source)] = since, made
            return True
        return known is not None

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell."""
        if self._cells and self._suspicion.holds(look.sources):
            for since, made in self._cells.values():
                label = f"compile(), from {name_of_run(since)} on"
                yield _native.Holder("recompiled models", label, 0, since, "", made, "")


def _traces_of_trainers() -> int:
    """How many of the last calls of what Keras trains, tests and predicts with were traced again."""
    return sum(
        recent_traces(detector)
        for reference, detector in detectors()
        if (code := reference()) is not None and all(part in code.co_filename for part in _TRAINER)
    )
