"""Rows of one container, `(score, predictions)` or `{"score": …, "predictions": …}`, of which cells read something, and
never what keeps the memory."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.large_places import Place, large_places
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, Look
from xleak.shell.holders.part_uses import Cell, Key, Step, code_in, uses_in
from xleak.shell.holders.places import names_of_parts
from xleak.shell.source import parsed

# Fewer rows may be meant for a use that no cell shows yet.
_SEVERAL = 3
_MOST = 2000
_CONTAINERS: tuple[type, ...] = (list, dict, defaultdict)

_Path = tuple[tuple[str, Key], ...]
"""Kinds of containers, and the keys or places in them."""


@dataclass
class _Entries:
    """What the rows have at one key or place."""

    paths: list[_Path] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    others: set[Key] = field(default_factory=set)
    """The other keys or places of the rows."""
    kept: int = 0

    def steps(self, keys: frozenset[Key]) -> list[Step]:
        """The steps to these keys of the rows."""
        kinds = [kind for kind, _ in self.paths[0]]
        around = [frozenset(path[level][1] for path in self.paths) for level in range(len(kinds))]
        return [Step(*it) for it in zip(kinds, [*around[:-1], keys], strict=True)]

    @property
    def key(self) -> Key:
        return self.paths[0][-1][1]


class UnreadEntries(AtVerdict):
    """Entries of rows that nothing reads."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each container."""
        cells: dict[int, Cell] = {}
        code: dict[str, ast.AST] = {}
        for place in large_places(look, is_asked):
            entries = _largest(look, place)
            if entries is None:
                continue
            if not cells:
                cells = {at: (text, parsed(text)) for at, text in look.sources.items()}
                code = {its: it for _, tree in cells.values() if tree for its, it in code_in(tree)}
            if _is_unread(place, entries, cells, code):
                yield _holder(look, place, entries)


def _largest(look: Look, place: Place) -> _Entries | None:
    """The entries that keep most; None where they are few or small."""
    found: dict[tuple[tuple[str, ...], Key], _Entries] = defaultdict(_Entries)
    for path, row, keys, value in _rows(place.value, ()):
        if not place.is_alone(look, row):
            continue
        its = found[tuple(kind for kind, _ in path), path[-1][1]]
        its.paths.append(path)
        its.values.append(value)
        its.others.update(key for key in keys if key != path[-1][1])
        its.kept += look.heap.retained_by(value)
    largest = max(found.values(), key=lambda it: it.kept, default=None)
    if largest is None or largest.kept < REPORTED_BYTES or not largest.others:
        return None
    large = [it for it in largest.values if look.heap.retained_by(it) >= LEAST_BYTES]
    return largest if len(large) >= _SEVERAL else None


def _rows(container: Any, path: _Path) -> Iterator[tuple[_Path, Any, Sequence[Key], Any]]:
    """(path, row, all its keys, value) of each entry of the rows in a container, or in containers of it."""
    kind = "dict" if _native.is_exactly(container, (dict, defaultdict)) else "list"
    for key, row in _elements(container, kind):
        here: _Path = (*path, (kind, key))
        keys = _keys(row)
        if keys:
            row_kind = "dict" if type(row) is dict else "record" if names_of_parts(row) else "tuple"
            for entry_key, value in zip(keys, _native.values_of(row), strict=False):
                yield (*here, (row_kind, entry_key)), row, keys, value
        elif _native.is_exactly(row, _CONTAINERS) and not path:
            yield from _rows(row, here)


def _elements(container: Any, kind: str) -> list[tuple[Key, Any]]:
    if not _native.is_exactly(container, _CONTAINERS):
        return []
    if kind == "list":
        return [(None, it) for it in _native.values_of(container, 0, _MOST)]
    entries = _native.items_of(container, 0, _MOST)
    return [(key if _native.is_exactly(key, (str, int)) else None, it) for key, it in entries]


def _keys(row: Any) -> list[Key]:
    """Of a dictionary with texts as keys, a tuple or a named tuple; none of what else is in a container."""
    if type(row) is dict:
        keys = list(_native.entries_of(row))
        return [*keys] if len(keys) > 1 and all(type(it) is str for it in keys) else []
    if type(row) is tuple:
        return [*range(len(row))]
    return [*names_of_parts(row)]


def _is_unread(
    place: Place, entries: _Entries, cells: Mapping[int, Cell], code: Mapping[str, ast.AST]
) -> bool:
    made = max((cell for cell, _, _ in place.births), default=0)
    own = [*place.steps, *entries.steps(frozenset({entries.key}))]
    others = [*place.steps, *entries.steps(frozenset(entries.others))]
    for since, makes_it in ((made + 1, False), (made, True)):
        these = [cell for at, cell in cells.items() if at >= since]
        uses = uses_in(these, place.name, own, code, makes_it)
        if uses.anything or uses.operations:
            return False
        if uses_in(these, place.name, others, code, makes_it).reached:
            return True
    return False


def _holder(look: Look, place: Place, entries: _Entries) -> _native.Holder:
    cause = cause_of(look.watcher.shell, place.births)
    key = entries.key
    return _native.Holder(
        "unread entries",
        place.label,
        entries.kept,
        cause.cell if cause else None,
        f"entry {key}" if isinstance(key, int) else repr(key),
        len(entries.values),
        _release(look, place, entries),
        line=cause.line if cause else None,
    )


def _release(look: Look, place: Place, entries: _Entries) -> str:
    """Code that puts None in the place of the entries of all rows, and leaves the rest."""
    [*around, (row, key)] = entries.paths[0]
    each = place.each_alone(look) if len(around) == 1 else ""
    if row == "dict" or not each:
        return f"[v.update({{{key!r}: None}}) {each}];" if each else ""
    row_code = (
        f"v._replace({key}=None)"
        if row == "record"
        else f"(*v[:{key}], None, *v[{int(key or 0) + 1}:])"
    )
    name = place.label
    if " if " in each:
        return ""
    if around[0][0] == "dict":
        return f"{name}.update({{k: {row_code} for k, v in {name}.items()}})"
    return f"{name}[:] = [{row_code} {each}]"
