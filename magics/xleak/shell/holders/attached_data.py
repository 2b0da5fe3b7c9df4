"""What pandas' tables carry beside their data, `.attrs` and accessors, and no cell reads."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.fields import fields_of
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, SINGLE_BYTES, Look, is_the_users
from xleak.shell.holders.places import container_of, value_at
from xleak.shell.holders.uses import first_name
from xleak.shell.source import parsed

# Fewer may be meant for a use that no cell shows yet.
_SEVERAL = 3
_DATA = "_mgr"
_FILLING = ("update", "setdefault", "clear", "pop")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class AttachedData(AtVerdict):
    """`.attrs` is copied into each selection, and an accessor stays with the table that it was asked of."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each container, or name, and attribute."""
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for table in _tables(look):
            way = ""
            for name, value in fields_of(table).items():
                kept = look.heap.retained_by(value) if name != _DATA else 0
                if kept < LEAST_BYTES or not look.heap.keeps(table, value):
                    continue
                way = way or look.heap.way_to(table)
                place = container_of(way) or way
                if is_the_users(way) and is_asked(place):
                    found[place, name].append(kept)
        for (place, name), sizes in found.items():
            least = REPORTED_BYTES if len(sizes) >= _SEVERAL else SINGLE_BYTES
            attribute = "attrs" if name == "_attrs" else name
            births = look.heap.births(first_name(place))
            made = max((cell for cell, _, _ in births), default=0)
            if sum(sizes) < least or _is_read(look, attribute, made):
                continue
            cause = cause_of(look.watcher.shell, births)
            yield _native.Holder(
                "unread part",
                place,
                sum(sizes),
                cause.cell if cause else None,
                f"{_native.type_name(_first(look, place))}.{attribute}",
                len(sizes),
                _release(look, place, name),
                line=cause.line if cause else None,
            )


def _tables(look: Look) -> list[Any]:
    pandas = _native.fields_of_module("pandas.core.generic") or {}
    base = pandas.get("NDFrame")
    return look.live.instances(base) if _native.is_kind_of(base, type) else []


def _first(look: Look, place: str) -> Any:
    value = value_at(look.watcher.shell.user_ns, place)
    if _native.is_kind_of(value, dict):
        return next(iter(_native.entries_of(value).values()), None)
    if _native.is_kind_of(value, (list, tuple)):
        return next(iter(_native.values_of(value, 0, 1)), None)
    return value


def _is_read(look: Look, attribute: str, made: int) -> bool:
    """Whether a later cell, or a function that one may call, reads an attribute of that name, of whatever it is."""
    for at, source in look.sources.items():
        tree = parsed(source)
        if tree is None:
            if attribute in source:
                return True
            continue
        if at > made:
            parts: list[ast.AST] = [tree]
        else:
            parts = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
        if any(_reads(part, attribute) for part in parts):
            return True
    return False


def _reads(tree: ast.AST, attribute: str) -> bool:
    filled = set()
    for node in ast.walk(tree):
        inner = getattr(node, "value", None)
        is_filled = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        is_filled |= isinstance(node, ast.Attribute) and node.attr in _FILLING
        if is_filled and isinstance(inner, ast.Attribute):
            filled.add(inner)
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.ctx, ast.Load)
        and node not in filled
        for node in ast.walk(tree)
    )


def _release(look: Look, place: str, name: str) -> str:
    value = value_at(look.watcher.shell.user_ns, place)
    code = "setattr({}, 'attrs', {{}})" if name == "_attrs" else f"vars({{}}).pop({name!r}, None)"
    if _native.is_kind_of(value, dict):
        return f"[{code.format('v')} for v in {place}.values()];"
    if _native.is_kind_of(value, (list, tuple)):
        return f"[{code.format('v')} for v in {place}];"
    return f"{code.format(place)};"
