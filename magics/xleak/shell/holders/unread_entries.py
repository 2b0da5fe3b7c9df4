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
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked, large_names
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
        return list(zip(kinds, [*around[:-1], keys], strict=True))

    @property
    def key(self) -> Key:
        return self.paths[0][-1][1]


class UnreadEntries(AtVerdict):
    """Entries of rows that nothing reads."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each name."""
        cells: dict[int, Cell] = {}
        code: dict[str, ast.AST] = {}
        for name in large_names(look, is_asked):
            entries = _largest(look, _native.value_at(look.watcher.shell.user_ns, name))
            if entries is None:
                continue
            if not cells:
                cells = {at: (text, parsed(text)) for at, text in look.sources.items()}
                code = {its: it for _, tree in cells.values() if tree for its, it in code_in(tree)}
            if _is_unread(look, name, entries, cells, code):
                yield _holder(look, name, entries)


def _largest(look: Look, container: Any) -> _Entries | None:
    """The entries that keep most; None where they are few or small."""
    found: dict[tuple[tuple[str, ...], Key], _Entries] = defaultdict(_Entries)
    for path, keys, value in _rows(container, ()):
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


def _rows(container: Any, path: _Path) -> Iterator[tuple[_Path, Sequence[Key], Any]]:
    """(path, all keys of the row, value) of each entry of the rows in a container, or in containers of it."""
    kind = "dict" if _native.is_exactly(container, (dict, defaultdict)) else "list"
    for key, row in _elements(container, kind):
        here: _Path = (*path, (kind, key))
        keys = _keys(row)
        if keys:
            row_kind = "dict" if type(row) is dict else "record" if names_of_parts(row) else "tuple"
            for entry_key, value in zip(keys, _native.values_of(row), strict=False):
                yield (*here, (row_kind, entry_key)), keys, value
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
    look: Look, name: str, entries: _Entries, cells: Mapping[int, Cell], code: Mapping[str, ast.AST]
) -> bool:
    made = max((cell for cell, _, _ in look.heap.births(name)), default=0)
    own, others = entries.steps(frozenset({entries.key})), entries.steps(frozenset(entries.others))
    for since, makes_it in ((made + 1, False), (made, True)):
        these = [cell for at, cell in cells.items() if at >= since]
        uses = uses_in(these, name, own, code, makes_it)
        if uses.anything or uses.operations:
            return False
        if uses_in(these, name, others, code, makes_it).reached:
            return True
    return False


def _holder(look: Look, name: str, entries: _Entries) -> _native.Holder:
    cause = cause_of(look.watcher.shell, look.heap.births(name))
    key = entries.key
    return _native.Holder(
        "unread entries",
        name,
        entries.kept,
        cause.cell if cause else None,
        f"entry {key}" if isinstance(key, int) else repr(key),
        len(entries.values),
        _release(name, entries),
        line=cause.line if cause else None,
    )


def _release(name: str, entries: _Entries) -> str:
    """Code that puts None in the place of the entries of all rows, and leaves the rest."""
    [*around, (row, key)] = entries.paths[0]
    if len(around) > 1:
        return ""
    each = f"{name}.values()" if around[0][0] == "dict" else name
    if row == "dict":
        return f"[v.update({{{key!r}: None}}) for v in {each}];"
    row_code = (
        f"v._replace({key}=None)"
        if row == "record"
        else f"(*v[:{key}], None, *v[{int(key or 0) + 1}:])"
    )
    if around[0][0] == "dict":
        return f"{name}.update({{k: {row_code} for k, v in {name}.items()}})"
    return f"{name}[:] = [{row_code} for v in {name}]"
