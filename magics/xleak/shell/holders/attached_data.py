"""What tables and pictures carry beside their data, `.attrs`, `.info` and accessors, and no cell reads."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.fields import fields_of, loaded_class
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, SINGLE_BYTES, Look, is_the_users
from xleak.shell.holders.places import container_of, first_container_of, value_at
from xleak.shell.holders.uses import first_name
from xleak.shell.source import parsed

# Fewer may be meant for a use that no cell shows yet.
_SEVERAL = 3
_DATA_OF_TABLES = "_mgr"
_FILLING = ("update", "setdefault", "clear", "pop")


class AttachedData(AtVerdict):
    """`.attrs` and `.info` are copied into each selection or picture, and an accessor stays with the table that it was
    asked of."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each container, or name, and attribute."""
        found: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
        for it, carried in _objects(look):
            way = ""
            for name, value in carried.items():
                kept = look.heap.retained_by(value)
                if kept < LEAST_BYTES or not look.heap.keeps(it, value):
                    continue
                way = way or look.heap.way_to(it)
                place = first_container_of(way) or way
                if is_the_users(way) and is_asked(place):
                    found[place, name].append((way, kept))
        for (place, name), its in found.items():
            held = sum(kept for _, kept in its)
            least = REPORTED_BYTES if len(its) >= _SEVERAL else SINGLE_BYTES
            attribute = "attrs" if name == "_attrs" else name
            births = look.births_with(first_name(place))
            made = max((cell for cell, _, _ in births), default=0)
            if held < least or _is_read(look, attribute, made):
                continue
            cause = cause_of(look.watcher.shell, births)
            first = value_at(look.watcher.shell.user_ns, its[0][0])
            yield _native.Holder(
                "unread part",
                place,
                held,
                cause.cell if cause else None,
                f"{_native.type_name(first)}.{attribute}",
                len(its),
                _release(look, place, attribute, [way for way, _ in its]),
                line=cause.line if cause else None,
            )


def _objects(look: Look) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """(object, what it carries by attribute)."""
    table = loaded_class("pandas.core.generic", "NDFrame")
    for it in look.live.instances(table) if table is not None else ():
        yield it, {k: value for k, value in fields_of(it).items() if k != _DATA_OF_TABLES}
    picture = loaded_class("PIL.Image", "Image")
    for it in look.live.instances(picture) if picture is not None else ():
        # From the file and the like it may have to read its data yet.
        yield it, {"info": fields_of(it).get("info")}


def _is_read(look: Look, attribute: str, made: int) -> bool:
    """Whether a later cell, or a function that it may run, reads an attribute of that name, of whatever it is."""
    trees = {at: parsed(source) for at, source in look.sources.items()}
    if any(tree is None and attribute in look.sources[at] for at, tree in trees.items()):
        return True
    pending: list[ast.AST] = [tree for at, tree in trees.items() if tree and at > made]
    functions = [it for tree in trees.values() if tree for it in _functions(tree)]
    while pending:
        part = pending.pop()
        if _reads(part, attribute):
            return True
        words = {getattr(it, "id", getattr(it, "attr", "")) for it in ast.walk(part)}
        pending += [it for it in functions if it.name in words]
        functions = [it for it in functions if it.name not in words]
    return False


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [it for it in ast.walk(tree) if isinstance(it, (ast.FunctionDef, ast.AsyncFunctionDef))]


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


def _release(look: Look, place: str, attribute: str, ways: list[str]) -> str:
    emptied = f"{{}}.{attribute}.clear()"
    namespace = look.watcher.shell.user_ns
    is_dict = _native.is_kind_of(value_at(namespace, f"{ways[0]}.{attribute}"), dict)
    if attribute != "attrs" and not is_dict:
        emptied = f"vars({{}}).pop({attribute!r}, None)"
    value = value_at(namespace, place)
    if all(container_of(way) == place for way in ways) and place not in ways:
        each = f"{place}.values()" if _native.is_kind_of(value, dict) else place
        return f"[{emptied.format('v')} for v in {each}];"
    return "; ".join(emptied.format(way) for way in ways) + ";"
