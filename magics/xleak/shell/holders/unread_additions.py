"""Containers that functions add to, step by step, and whose elements no code has read."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xleak import _native
from xleak.shell.births import Birth, Cause, cause_of
from xleak.shell.holders.additions import Doing, Named, Place, places_in
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.call_sites import is_called_again
from xleak.shell.holders.containers import Collection, collections_of, is_users_function
from xleak.shell.holders.look import REPORTED_BYTES, Look
from xleak.shell.holders.places import as_written
from xleak.shell.holders.unhit_memos import never_hits

# Fewer elements are no growth.
_STEPS = 3

# (name, first line) of code objects, and whether one of them may have run.
Runs = dict[tuple[str, int | None], bool]


@dataclass(frozen=True)
class _Added:
    function: str
    is_memo: bool
    """Whether the function looks there first for what it adds."""
    at: Cause
    """Where it adds."""


class UnreadAdditions(AtVerdict):
    """Containers that functions add to and nothing reads."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each container."""
        runs: Runs | None = None
        for it in collections_of(look, captured=True, least=REPORTED_BYTES):
            way = as_written(it.way)
            if not is_asked(way):
                continue
            count, births = look.heap.elements(it.object)
            # Of small pieces the ledger knows no birth.
            count = count or it.count
            runs = runs_of(look) if runs is None and count >= _STEPS else runs
            added = _added_by(look, it, births, runs) if runs and count >= _STEPS else None
            if added is None:
                continue
            cause = cause_of(look.watcher.shell, births) or added.at
            yield _native.Holder(
                "memo without hits" if added.is_memo else "unread additions",
                way,
                it.kept,
                cause.cell,
                added.function,
                count,
                f"{way}.clear()",
                line=cause.line,
            )


def _added_by(look: Look, it: Collection, births: Sequence[Birth], runs: Runs) -> _Added | None:
    """The function that adds to a container behind the scenes; None where another adds, takes or reads too."""
    cells = {cell for cell, _, _ in births}
    first_cell, in_cells = min(cells, default=0), len(cells)
    container = _named(it)
    adding: dict[tuple[str, int | None], Cause] = {}
    reading: set[tuple[str, int | None]] = set()
    for source, cell in {source: cell for cell, source in look.sources.items()}.items():
        for place in places_in(source, container):
            if not _runs_in(place, cell, first_cell, runs):
                continue
            if place.doing is Doing.TAKES or place.function is None:
                return None
            if place.doing is Doing.READS:
                reading.add(place.function)
            elif _is_in_sight(look, place, in_cells):
                return None
            else:
                adding[place.function] = Cause(cell, place.line)
    if not adding or not reading <= set(adding) or (reading and not never_hits(look, it, cells)):
        return None
    function, at = list(adding.items())[-1]
    return _Added(function[0], bool(reading), at)


def _named(it: Collection) -> Named:
    way, name = it.way, it.name
    start = way.rindex(name)
    has_elements = _native.is_exactly(it.object, (list, deque))
    subscripts = way[start:].count("[") + 1 if has_elements else None
    function = it.captured_by
    if function is None:
        return Named(name, way[:start].endswith("."), subscripts, it.count)
    own = zip(function.__code__.co_freevars, function.__closure__, strict=True)
    variable = next(name for name, cell in own if any(cell is owner for owner in it.owners))
    return Named(variable, False, subscripts, it.count, function.__code__.co_name)


def _runs_in(place: Place, cell: int, first_cell: int, runs: Runs) -> bool:
    if place.function is None:
        return cell >= first_cell
    return runs.get(place.function, True)


def _is_in_sight(look: Look, place: Place, in_cells: int) -> bool:
    """Whether one statement that the user wrote adds all of it, in a loop or in what sets an object up."""
    if place.of_self or place.function is None:
        return True
    if not place.in_loop or in_cells > 1:
        return False
    return not is_called_again(set(look.sources.values()), place.function[0])


def runs_of(look: Look) -> Runs:
    """Whether the user's functions may have run."""
    found: Runs = {}
    pending: list[types.CodeType] = [
        it.__code__ for it in look.live.instances(types.FunctionType) if is_users_function(it, look)
    ]
    while pending:
        code = pending.pop()
        key = (code.co_name, code.co_firstlineno)
        found[key] = _native.may_have_run(code) or found.get(key, False)
        pending += [it for it in code.co_consts if type(it) is types.CodeType]
    return found
