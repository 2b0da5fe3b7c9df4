"""What the source of cells shows of containers: who fills, reads, bounds them. A container goes by
the last name that leads to it, `taps` of `probe.taps['a']`, whichever object that belongs to."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

from xleak.shell.holders.sign_reader import Signs, signs_of

if TYPE_CHECKING:
    from xleak.shell.holders.look import Look


class SourceSigns:
    """The signs of a session, each cell read once: what is remembered grows with the names that cells have, not with
    their number."""

    def __init__(self) -> None:
        self._together = Signs()
        self._last_read = 0
        self._bound: dict[str, int] = {}
        self._left: dict[str, int] = {}
        self._filled: dict[str, int] = {}
        self._defaults: dict[tuple[str, str], int] = {}

    def read(self, sources: dict[int, str], interrupted: Callable[[], bool] | None) -> bool:
        """Reads the cells that are new. False: it was interrupted, and the next call continues."""
        for index, source in since(self._last_read, sources).items():
            if interrupted is not None and interrupted():
                return False
            self._add(index, signs_of(source))
        return True

    def of_session(self, look: Look) -> Signs:
        """Those of all cells together. Nobody changes them."""
        self.read(look.sources, None)
        return self._together

    @staticmethod
    def of(sources: dict[int, str]) -> Signs:
        """Those of these cells together."""
        together = Signs()
        for source in sources.values():
            together.add(signs_of(source))
        return together

    def of_latest(self, look: Look) -> Signs:
        """Those of the cell that ended last."""
        return signs_of(look.sources.get(look.cell, ""))

    def cell_that_binds(self, name: str) -> int | None:
        """The last of the cells read that define a function or a name."""
        return self._bound.get(name)

    def cell_that_leaves(self, attribute: str) -> int | None:
        """The last of the cells read with a method that sets an attribute."""
        return self._left.get(attribute)

    def cell_that_fills(self, name: str) -> int | None:
        """The last of the cells read whose functions fill a container."""
        return self._filled.get(name)

    def cell_that_defines(self, function: str, parameter: str) -> int | None:
        """The last of the cells read with a function that has such a default."""
        return self._defaults.get((function, parameter))

    def _add(self, index: int, signs: Signs) -> None:
        self._last_read = index
        self._together.add(signs)
        self._bound |= dict.fromkeys(signs.bound, index)
        self._left |= dict.fromkeys(signs.left_by_methods, index)
        self._defaults |= dict.fromkeys(signs.growing_defaults, index)
        in_functions = [name for name, functions in signs.filled.items() if functions - {""}]
        self._filled |= dict.fromkeys(in_functions, index)


def since(index: int, sources: dict[int, str]) -> dict[int, str]:
    """The sources of the cells after that one, oldest first."""
    recent: dict[int, str] = {}
    for cell in itertools.takewhile(lambda it: it > index, reversed(sources)):
        recent[cell] = sources[cell]
    return dict(reversed(recent.items()))
