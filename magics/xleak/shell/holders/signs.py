"""What the source of cells shows of containers: who fills, reads, bounds them. A container goes by
the last name that leads to it, `taps` of `probe.taps['a']`, whichever object that belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xleak.shell.holders.sign_reader import Signs, signs_of

if TYPE_CHECKING:
    from xleak.shell.holders.look import Look


class SourceSigns:
    """The signs of a session, each cell read once."""

    def __init__(self) -> None:
        self._of_cell: dict[int, Signs] = {}

    def of(self, look: Look, sources: Mapping[int, str]) -> Signs:
        """Those of these cells together."""
        together = Signs()
        for index, source in sources.items():
            if index not in self._of_cell:
                self._of_cell[index] = signs_of(source).slim()
            together.add(self._of_cell[index])
        return together

    def of_latest(self, look: Look) -> Signs:
        """Those of the cell that ended last."""
        return self.of(look, {look.cell: look.sources.get(look.cell, "")})

    def cell_that_binds(self, name: str) -> int | None:
        """The last of the cells read that define a function or a name."""
        return max((n for n, signs in self._of_cell.items() if name in signs.bound), default=None)

    def cell_that_leaves(self, attribute: str) -> int | None:
        """The last of the cells read with a method that sets an attribute."""
        cells = [n for n, signs in self._of_cell.items() if attribute in signs.left_by_methods]
        return max(cells, default=None)

    def cell_that_fills(self, name: str) -> int | None:
        """The last of the cells read whose functions fill a container."""
        cells = [n for n, signs in self._of_cell.items() if signs.filled.get(name, set()) - {""}]
        return max(cells, default=None)

    def cell_that_defines(self, function: str, parameter: str) -> int | None:
        """The last of the cells read with a function that has such a default."""
        default = (function, parameter)
        cells = [n for n, signs in self._of_cell.items() if default in signs.growing_defaults]
        return max(cells, default=None)
