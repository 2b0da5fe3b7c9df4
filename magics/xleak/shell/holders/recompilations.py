"""Functions that torch.compile compiled again and again, up to its limit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.holders.look import Look


class Recompilations:
    """Told until the compiler is reset."""

    def __init__(self) -> None:
        self._attempts = 0
        self._cells: dict[int, int] = {}
        """By number of the function the cell in which it went past the limit; 0: nobody knows."""
        self.after_cell(0)

    def after_cell(self, cell: int) -> bool:
        """Whether another function is past the limit, or one no longer."""
        frames = _attribute("torch._dynamo.convert_frame", "FRAME_COMPILE_COUNTER")
        if frames is None:
            return False
        attempts = _attempts()
        if attempts == self._attempts and len(frames) >= len(self._cells):
            return False
        before, self._attempts = self._cells, attempts
        limit = _limit()
        past = [it for it, count in _native.items_of(frames) if count > limit]
        self._cells = {it: before.get(it, cell) for it in past}
        return self._cells != before

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell that went past the limit."""
        for cell in sorted(set(self._cells.values())):
            count = sum(it == cell for it in self._cells.values())
            label = f"torch.compile, from {name_of_run(cell)} on" if cell else "torch.compile"
            yield _native.Holder("recompilations", label, 0, cell or None, str(_limit()), count, "")


def _attempts() -> int:
    """How often the compiler was asked for a function."""
    counters = _attribute("torch._dynamo.utils", "counters")
    return int(_native.value_at(_native.value_at(counters, "frames"), "total") or 0)


def _limit() -> int:
    """As many times a function is compiled; from then on it runs as it is."""
    config = sys.modules.get("torch._dynamo.config")
    return int(getattr(config, "recompile_limit", 8))


def _attribute(module: str, name: str) -> Any:
    """What a module has by a name, None where it is not imported."""
    return _native.fields_of_module(module).get(name)
