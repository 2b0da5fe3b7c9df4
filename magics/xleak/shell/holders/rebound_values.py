"""Values that a statement bound again and again to themselves and more, and whose elements no code has read."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.births import Cause, causes_of
from xleak.shell.fields import ancestors_of, class_fields, fields_of, slots_of
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.call_sites import is_called_again
from xleak.shell.holders.containers import is_users_class
from xleak.shell.holders.look import REPORTED_BYTES, Look, may_be_released
from xleak.shell.holders.rebound_code import (
    Doing,
    Growth,
    Place,
    growing_in,
    is_empty,
    places_of,
    takers_of,
)
from xleak.shell.holders.unread_additions import Runs, runs_of

# Of these a sum is all that was in both.
_SEQUENCES = (str, bytes, bytearray, tuple, list)


class ReboundValues(AtVerdict):
    """Names and attributes that grow by being bound to themselves and more."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each place."""
        runs: Runs | None = None
        cells = {source: cell for cell, source in look.sources.items()}
        for source, cell in cells.items():
            for growing in growing_in(source):
                values = list(_values(look, growing))
                if not values:
                    continue
                runs = runs_of(look) if runs is None else runs
                starts = _starts(look, growing, runs) if _repeats(look, growing, runs) else None
                for way, value, kept in values if starts is not None else ():
                    if not is_asked(way):
                        continue
                    if not _has_grown(look, growing, cell, way, value, kept, starts or []):
                        continue
                    if any(name in takers_of(growing) for name, _ in runs):
                        # A function of the user's may read what it is handed.
                        continue
                    yield _native.Holder(
                        "unread growth",
                        way,
                        kept,
                        cell,
                        growing.function[0] if growing.function else "",
                        1,
                        _release(look, way, starts or []),
                        line=growing.lines.start,
                    )


def _values(look: Look, growing: Place) -> Iterator[tuple[str, Any, int]]:
    """(way, value, bytes) of the large values that a statement may have made."""
    namespace, key = look.watcher.shell.user_ns, growing.key
    if not key.is_attribute:
        kept = look.kept_with(key.name)
        if kept >= REPORTED_BYTES:
            yield key.name, _native.value_at(namespace, key.name), kept
        return
    seen: set[int] = set()
    for owner in _owners(look, growing):
        is_class = _native.is_kind_of(owner, type)
        fields = class_fields(owner) if is_class else _fields(owner)
        value = fields.get(key.name)
        kept = look.heap.retained_by(value) if value is not None and id(owner) not in seen else 0
        seen.add(id(owner))
        if kept >= REPORTED_BYTES and look.heap.keeps(owner, value):
            way = f"{look.heap.way_to(owner)}.{key.name}"
            if may_be_released(way):
                yield way, value, kept


def _fields(owner: object) -> dict[Any, Any]:
    slots = slots_of(owner)
    # That of a SimpleNamespace is a slot.
    return {**fields_of(owner), **slots, **_native.entries_of(slots.get("__dict__"))}


def _owners(look: Look, growing: Place) -> Iterator[Any]:
    """The objects of which it may be an attribute."""
    values = _native.entries_of(look.watcher.shell.user_ns)
    owner = growing.target.value if isinstance(growing.target, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id in values:
        yield values[owner.id]
    for kind in (*values.values(), types.SimpleNamespace):
        if is_users_class(kind) or kind is types.SimpleNamespace:
            yield kind
            yield from look.live.instances(kind)


def _repeats(look: Look, growing: Place, runs: Runs) -> bool:
    if growing.function is None:
        return growing.in_loop
    if not runs.get(growing.function, True):
        return False
    name = growing.function[0]
    return growing.in_loop or (
        name != "__init__" and is_called_again(set(look.sources.values()), name)
    )


def _starts(look: Look, growing: Place, runs: Runs) -> list[ast.expr | None] | None:
    """What it began with; None where code reads its elements or binds it to something else again and again."""
    sources = set(look.sources.values())
    starts: list[ast.expr | None] = []
    for source in sources:
        for place in places_of(source, growing.key):
            if place.function is not None and not runs.get(place.function, True):
                continue
            if place.does in (Doing.READS, Doing.REBINDS):
                return None
            if place.does is Doing.STARTS:
                function = place.function[0] if place.function else ""
                sets_up = function in ("", "__init__")
                if place.in_loop or not (sets_up or not is_called_again(sources, function)):
                    return None
                starts.append(place.value)
    return starts


def _has_grown(
    look: Look,
    growing: Place,
    cell: int,
    way: str,
    value: Any,
    kept: int,
    starts: list[ast.expr | None],
) -> bool:
    # What has no length does not grow.
    if not any("__len__" in class_fields(base) for base in ancestors_of(type(value))):
        return False
    if growing.does is Growth.ADDED:
        return _native.is_exactly(value, _SEQUENCES)
    if starts and all(is_empty(it) for it in starts):
        return True
    if growing.does is Growth.GIVEN:
        return False
    name = way.partition(".")[0].partition("[")[0]
    causes = causes_of(look.watcher.shell, look.heap.births(name))
    made = sum(size for cause, size in causes if _is_at(cause, growing, cell))
    return not causes or made >= kept // 2


def _is_at(cause: Cause, growing: Place, cell: int) -> bool:
    return cause.cell == cell and cause.line is not None and cause.line in growing.lines


def _release(look: Look, way: str, starts: list[ast.expr | None]) -> str:
    """Code that has it begin again, where the beginning makes sense everywhere."""
    start = starts[-1] if starts else None
    if start is None:
        return f"del {way}"
    names = _native.entries_of(look.watcher.shell.user_ns)
    used = [it.id for it in ast.walk(start) if isinstance(it, ast.Name)]
    is_small = is_empty(start) or (isinstance(start, ast.Constant) and start.value is None)
    return f"{way} = {ast.unparse(start)}" if is_small and set(used) <= set(names) else f"del {way}"
