"""Containers that code behind the scenes fills, execution after execution, and nobody empties."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xleak import _native
from xleak.shell.holders.containers import (
    Collection,
    collections_of,
    is_context,
    is_plain,
    is_users_class,
)
from xleak.shell.holders.growth_history import RISES, GrowthHistory, Observed
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.places import is_within
from xleak.shell.holders.sign_reader import MAKERS, Signs
from xleak.shell.holders.signs import SourceSigns
from xleak.shell.modules import is_module

_CACHE_NAME = re.compile(r"cache|memo|store|lookup|feats", re.IGNORECASE)


class GrowingContainers:
    """Those that grew over several executions of cells which do not fill them in plain sight."""

    def __init__(self, signs: SourceSigns) -> None:
        self._history = GrowthHistory()
        self._signs = signs

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each."""
        collections = collections_of(look)
        found = {it.way: it for it in collections if it.way not in look.explained}
        things = list(self._observed(look, found)) if found else []
        grown = self._history.grown(look, things)
        grown = _of_contexts(found, look.cell) | grown
        signs = self._signs.of_session(look) if grown else Signs()
        leaks: dict[str, list[Collection]] = {}
        for it in (found[way] for way in sorted(grown)):
            kind = _kind_of(it, signs)
            meant = kind == "growing container" and _is_by_name(it, look)
            if kind and not (meant or signs.bounded(it.name) or is_within(it.way, grown)):
                leaks.setdefault(it.family, []).append(it)
        for family, members in leaks.items():
            yield self._told(family, members, signs, grown[members[0].way])

    def _told(
        self, family: str, members: list[Collection], signs: Signs, first_cell: int
    ) -> _native.Holder:
        """`taps['a']` and `taps['b']` are one holder, `taps`."""
        first = members[0]
        label = first.way if len(members) == 1 else family
        kind = _kind_of(first, signs) or ""
        kept, count = sum(it.kept for it in members), sum(it.count for it in members)
        since = self._signs.cell_that_fills(first.name) or first_cell
        largest = _native.type_name(next(reversed(first.elements()), None))
        release = "; ".join(f"{it.way}.clear()" for it in members)
        return _native.Holder(kind, label, kept, since, largest, count, release)

    def _observed(self, look: Look, found: dict[str, Collection]) -> Iterator[Observed]:
        recent = self._signs.of(self._history.cells_since(look))
        latest = self._signs.of_latest(look)
        filled = recent.filled_by("")
        for way, it in found.items():
            # `store.add(x)` says what it does as well as `results.append(x)`.
            names = {it.name} if _belongs_to_class(it) else {it.name, it.head}
            by_the_user = bool(names & filled) or it.name in recent.used_by_cells
            # An earlier cell made it with little in it, or there would have been a look.
            is_new = bool({it.name, it.head} & latest.bound)
            yield Observed(way, id(it.object), it.count, it.kept, is_new, by_the_user)


def _is_by_name(it: Collection, look: Look) -> bool:
    """Whether it is a dictionary whose keys stand in the cells: `load("train")`."""
    if not _native.is_kind_of(it.object, dict):
        return False
    keys = [key for key, _ in _native.items_of(it.object)]
    text = "\n".join(look.sources.values())
    return all(type(key) is str and (f"'{key}'" in text or f'"{key}"' in text) for key in keys)


def _of_contexts(found: dict[str, Collection], cell: int) -> dict[str, int]:
    """Those with contexts of autograd functions, each of which was for one pass: one look is
    enough."""
    return {
        way: cell
        for way, it in found.items()
        if it.kept >= REPORTED_BYTES and sum(map(_has_context, it.elements())) >= RISES
    }


def _has_context(element: object) -> bool:
    if type(element) is tuple:
        return any(map(is_context, _native.values_of(element)))
    return is_context(element)


def _kind_of(it: Collection, signs: Signs) -> str | None:
    """None where it is no leak of any kind."""
    elements = it.elements()
    # Classes register once, by design; a vocabulary or a log of numbers is what it looks like.
    if all(_native.is_kind_of(element, type) for element in elements) or is_plain(elements):
        return None
    if any(is_module(owner) for owner in it.owners):
        return "growing container of a module"
    looked_up = it.name in signs.looked_up or _CACHE_NAME.search(it.name)
    if looked_up and _native.is_kind_of(it.object, dict):
        return "growing cache"
    if _belongs_to_class(it) or signs.filled.get(it.name, set()) & MAKERS:
        return "growing registry"
    return None if it.name in signs.used else "growing container"


def _belongs_to_class(it: Collection) -> bool:
    return any(is_users_class(owner) for owner in it.owners[-2:])
