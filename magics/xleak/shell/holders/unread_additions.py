"""Containers that functions add to, step by step, and whose elements no code has read."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator, Sequence

from xleak import _native
from xleak.shell.births import Birth, cause_of
from xleak.shell.holders.additions import Doing, Named, Place, places_in
from xleak.shell.holders.containers import Collection, collections_of, is_users_function
from xleak.shell.holders.look import REPORTED_BYTES, Look

# Fewer elements are no growth.
_STEPS = 3

# (name, first line) of code objects, and whether one of them may have run.
_Runs = dict[tuple[str, int | None], bool]


class UnreadAdditions:
    """Those of a verdict: while cells come, the next may read them. They stay until one does."""

    def __init__(self) -> None:
        self._found: set[str] = set()

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each container."""
        if not look.settled and not self._found:
            return
        known, self._found = self._found, set()
        runs: _Runs | None = None
        for it in collections_of(look, least=REPORTED_BYTES):
            is_asked = look.settled or it.way in known
            if not is_asked or _is_within(it.way, {*look.explained, *look.reported, *self._found}):
                continue
            count, births = look.heap.elements(it.object)
            runs = _runs(look) if runs is None and count >= _STEPS else runs
            added_by = _added_by(look, it, births, runs) if runs and count >= _STEPS else None
            cause = cause_of(look.watcher.shell, births)
            if added_by is None or cause is None:
                continue
            self._found.add(it.way)
            yield _native.Holder(
                "unread additions",
                it.way,
                it.kept,
                cause.cell,
                added_by,
                count,
                f"{it.way}.clear()",
                line=cause.line,
            )


def _is_within(way: str, others: set[str]) -> bool:
    """Whether something else is said of it, of what has it or of what is in it."""
    return any(
        way == other or way.startswith((f"{other}[", f"{other}.")) or other.startswith(f"{way}[")
        for other in others
    )


def _added_by(look: Look, it: Collection, births: Sequence[Birth], runs: _Runs) -> str | None:
    """The function that adds to a container behind the scenes; None where another adds, takes or reads too."""
    first_cell = min((cell for cell, _, _ in births), default=0)
    in_cells = len({cell for cell, _, _ in births})
    container = _named(it)
    adding: list[str] = []
    for source, cell in {source: cell for cell, source in look.sources.items()}.items():
        for place in places_in(source, container):
            if not _runs_in(place, cell, first_cell, runs):
                continue
            if place.doing is not Doing.ADDS or _is_in_sight(place, in_cells):
                return None
            adding.append(place.function[0] if place.function else "")
    return adding[-1] if adding else None


def _named(it: Collection) -> Named:
    way, name = it.way, it.name
    start = way.rindex(name)
    has_elements = _native.is_exactly(it.object, (list, deque))
    subscripts = way[start:].count("[") + 1 if has_elements else None
    return Named(name, way[:start].endswith("."), subscripts)


def _runs_in(place: Place, cell: int, first_cell: int, runs: _Runs) -> bool:
    if place.function is None:
        return cell >= first_cell
    return runs.get(place.function, True)


def _is_in_sight(place: Place, in_cells: int) -> bool:
    """Whether one statement that the user wrote adds all of it, in a loop or in what sets an object up."""
    return place.function is None or place.of_self or (place.in_loop and in_cells == 1)


def _runs(look: Look) -> _Runs:
    found: _Runs = {}
    pending: list[types.CodeType] = [
        it.__code__ for it in look.live.instances(types.FunctionType) if is_users_function(it, look)
    ]
    while pending:
        code = pending.pop()
        key = (code.co_name, code.co_firstlineno)
        found[key] = _native.may_have_run(code) or found.get(key, False)
        pending += [it for it in code.co_consts if type(it) is types.CodeType]
    return found
