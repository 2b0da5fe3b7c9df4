"""What is found where somebody asks for a verdict: while cells come, the next one may still read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xleak import _native
from xleak.shell.holders.look import Look
from xleak.shell.holders.places import overlaps

IsAsked = Callable[[str], bool]
"""Whether a place is to be judged: nothing was found there yet, and it is a verdict or was found in one before."""


class AtVerdict:
    """Holders of a verdict. They stay until a cell reads what they keep."""

    def __init__(self) -> None:
        self._found: set[str] = set()

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each place, which is its label."""
        if not look.settled and not self._found:
            return
        known, self._found = self._found, set()

        def is_asked(way: str) -> bool:
            found = {*look.explained, *look.reported, *self._found}
            return (look.settled or way in known) and not overlaps(way, found)

        for holder in self.holders(look, is_asked):
            self._found.add(holder.label)
            yield holder

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """Those of the places that are asked about."""
        raise NotImplementedError
