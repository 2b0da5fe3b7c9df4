"""Registries of a class that alone keep the objects of the class."""

from __future__ import annotations

from collections.abc import Iterator

from xleak import _native
from xleak.shell.fields import ancestors_of
from xleak.shell.holders.containers import Collection, collections_of, is_users_class
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.sign_reader import MAKERS, Signs
from xleak.shell.holders.signs import SourceSigns

# One or two are a singleton, or a default and its variant.
_SEVERAL = 3


class Registries:
    """Those that only __init__ and its like fill and nobody reads, once they outlived the cell that
    filled them: until then the next cell may go through them."""

    def __init__(self, signs: SourceSigns) -> None:
        self._signs = signs
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each."""
        found = {it.way: it for it in collections_of(look) if _keeps_its_own(it, look)}
        signs = self._signs.of_session(look) if found else Signs()
        since = {way: self._since.get(way, look.cell) for way in found}
        self._since = since
        for way, it in found.items():
            by_makers = bool(signs.filled.get(it.name, set()) & MAKERS)
            read = it.name in signs.used or it.name in signs.looked_up
            if not by_makers or read or signs.bounded(it.name):
                continue
            if since[way] == look.cell:
                look.search_again()
                continue
            cell = self._signs.cell_that_fills(it.name)
            largest = _native.type_name(it.elements()[-1])
            release = f"{way}.clear()"
            yield _native.Holder("growing registry", way, it.kept, cell, largest, it.count, release)


def _keeps_its_own(it: Collection, look: Look) -> bool:
    classes = [owner for owner in it.owners[-2:] if is_users_class(owner)]
    if it.kept < REPORTED_BYTES or not classes:
        return False
    own = [element for element in it.elements() if _is_a(element, classes[-1])]
    return sum(look.heap.keeps(it.object, element) for element in own) >= _SEVERAL


def _is_a(element: object, cls: object) -> bool:
    # By identity: a metaclass may compare as it likes.
    return any(base is cls for base in ancestors_of(type(element)))
