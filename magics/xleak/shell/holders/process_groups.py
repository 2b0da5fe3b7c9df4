"""Process groups of torch.distributed that each run of a cell made and left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.holders.look import Look
from xleak.shell.holders.reruns import identity_of

# A run that makes one is how a process sets itself up.
_GROUPS = 2
_RUNS = 2


class ProcessGroups:
    """By the cell that makes them, until they are destroyed."""

    def __init__(self) -> None:
        self._cells: dict[str, int] = {}
        """By a group's name in the process, which is given once, the cell that made it."""
        self._identities: dict[int, str] = {}
        self._told: dict[str, list[int]] = {}
        self.after_cell(0, "")

    def after_cell(self, cell: int, source: str) -> bool:
        """Whether groups of several runs are there, or some of them no longer."""
        names = _names()
        if len(names) == len(self._cells) and self._cells.keys() >= set(names):
            return False
        self._cells = {it: self._cells.get(it, cell) for it in names}
        self._identities[cell] = identity_of(cell, source)
        before, self._told = self._told, self._repeated()
        return self._told != before

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each cell that was run again."""
        for cells in self._told.values():
            since, count = cells[0], len(cells)
            runs = f"{len(set(cells))} runs"
            label = f"torch.distributed, from {name_of_run(since)} on"
            yield _native.Holder("process groups", label, 0, since, runs, count, "")

    def _repeated(self) -> dict[str, list[int]]:
        """By identity of a cell the runs that left groups, each as often as it left one."""
        left: dict[str, list[int]] = {}
        made = sorted(self._cells.values())
        for cell in made:
            if made.count(cell) >= _GROUPS:
                left.setdefault(self._identities[cell], []).append(cell)
        return {cell: runs for cell, runs in left.items() if len(set(runs)) >= _RUNS}


def _names() -> list[str]:
    """Of the groups that are there but the default one; by torch's own table."""
    fields: Any = _native.fields_of_module("torch.distributed.distributed_c10d")
    table = fields.get("_pg_names")
    names = _native.values_of(table, 1) if type(table) is dict else []
    return [name for name in names if type(name) is str]
