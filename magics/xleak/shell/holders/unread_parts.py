"""Objects that keep a large part which no later cell reads, under one name."""

from __future__ import annotations

import ast
import functools
import re
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.births import cause_of
from xleak.shell.fields import ancestors_of, class_fields, fields_of, is_instance, slots_of
from xleak.shell.holders.at_verdict import AtVerdict, IsAsked
from xleak.shell.holders.containers import (
    CONTAINERS,
    MODELS,
    is_code_or_data,
    is_users_class,
    works_behind_the_scenes,
)
from xleak.shell.holders.large_places import Place, large_places
from xleak.shell.holders.look import LEAST_BYTES, REPORTED_BYTES, SINGLE_BYTES, Look
from xleak.shell.holders.method_reads import may_read
from xleak.shell.holders.part_uses import (
    Cell,
    Key,
    PartUses,
    Step,
    code_in,
    uses_by_cell,
    uses_in,
)
from xleak.shell.holders.unused_values import keeps_its_input
from xleak.shell.modules import is_module
from xleak.shell.source import parsed

# A single object may be meant for a use that no cell shows yet.
_SEVERAL = 3
_LISTS: tuple[type, ...] = (list, set, deque)
_DICTS: tuple[type, ...] = (dict, defaultdict, OrderedDict)
_PLAIN = (int, float, complex, str, type(None))
_DEEPEST = 3
_MOST = 2000
# They hand out the whole text that was searched, all else a part of it or its place.
_OF_THE_TEXT = {"string", "expand"}
# They show what they have, whatever else they are called.
_GROUPS = [
    ("pandas.core.groupby.groupby", "BaseGroupBy"),
    ("pandas.core.window.rolling", "BaseWindow"),
]


_Way = tuple[tuple[str, Key], ...]
"""Kinds of containers, and the keys or places in them."""


@dataclass(frozen=True)
class _Owners:
    """The objects of one class in one container."""

    objects: list[Any]
    steps: list[Step]


class UnreadParts(AtVerdict):
    """Objects of which something is used, and never their largest part."""

    def holders(self, look: Look, is_asked: IsAsked) -> Iterator[_native.Holder]:
        """One holder for each name or container."""
        trees: dict[str, ast.Module | None] = {}
        code: dict[str, ast.AST] = {}
        for place in large_places(look, is_asked):
            top = _owners(look, place)
            if top is None:
                continue
            if not trees:
                trees = {text: parsed(text) for text in look.sources.values()}
                code = {its: node for tree in trees.values() if tree for its, node in code_in(tree)}
            made = max((cell for cell, _, _ in place.births), default=0)
            cells = [(at, (text, trees[text])) for at, text in look.sources.items()]
            later = [cell for at, cell in cells if at > made]
            for owners in (top, *_behind(look, top)):
                by_cell = list(uses_by_cell(later, place.name, owners.steps, code))
                uses = functools.reduce(PartUses.__or__, by_cell, PartUses())
                is_silent = not uses.anything and not uses.operations
                if is_silent and not _hide(owners) and not _goes_on(place, owners, later, code):
                    # A cell that makes results may be the one that sums them up.
                    since = [cell for at, cell in cells if at >= made]
                    uses = uses_in(since, place.name, owners.steps, code, makes_it=True)
                # Of what nothing is read at all, those decide that have it.
                is_open = uses.anything or (owners is not top and not uses.operations)
                holder = None if is_open else _holder(look, place, owners, uses)
                if rest := _since_computed_parts_were_read(owners, by_cell):
                    found = [holder, _holder(look, place, owners, rest)]
                    holder = max(found, key=lambda it: it.held_bytes if it else 0)
                if holder is not None:
                    yield holder
                    break


def _owners(look: Look, place: Place) -> _Owners | None:
    """None where there are too few, or something else has as much."""
    found = list(_objects_in(place.value, (), set()))
    kept: Counter[int] = Counter()
    for it, _ in found:
        kept[id(type(it))] += look.heap.retained_by(it)
    if not kept:
        return None
    [(kind, _)] = kept.most_common(1)
    count = sum(id(type(it)) == kind for it, _ in found)
    its = [(it, way) for it, way in found if id(type(it)) == kind]
    ways = {tuple(step for step, _ in way) for _, way in its}
    if len(ways) > 1 or (count < _SEVERAL and _is_one_of(its[0][0], MODELS)):
        return None
    steps = []
    for level, step in enumerate(ways.pop()):
        steps.append(Step(step, frozenset(way[level][1] for _, way in its)))
    return _Owners([it for it, _ in its], [*place.steps, *steps])


def _behind(look: Look, owners: _Owners) -> Iterator[_Owners]:
    """What objects of the user's have in the attribute that keeps most, where that is an object too."""
    first = owners.objects[0]
    if len(owners.objects) < _SEVERAL or not is_users_class(type(first)):
        return
    fields = [_fields(it) for it in owners.objects]
    kept: Counter[str] = Counter()
    for its in fields:
        kept.update({k: look.heap.retained_by(it) for k, it in its.items() if type(k) is str})
    for name, _ in kept.most_common(1):
        found = [it[name] for it in fields if name in it]
        # An optimizer under a name is at work; behind a result it is what is left of it.
        is_object = not (
            found[0] is None
            or is_code_or_data(found[0])
            or is_module(found[0])
            or _is_one_of(found[0], MODELS)
        )
        if is_object and all(
            type(it) is type(found[0]) and look.heap.holders_of(it) == 1 for it in found
        ):
            step = Step("instance", frozenset([name]), _native.type_name(first).rpartition(".")[2])
            yield _Owners(found, [*owners.steps, step])


def _hide(owners: _Owners) -> bool:
    """Whether a library has what they keep, behind objects that are about something else."""
    target = _target(owners.objects[0])
    return not is_users_class(type(target)) and not _is_one_of(target, MODELS)


def _goes_on(
    place: Place, owners: _Owners, later: Sequence[Cell], code: Mapping[str, ast.AST]
) -> bool:
    """Whether later cells read other entries of the dictionaries that have them, as a library hands them out."""
    if is_users_class(type(owners.objects[0])):
        return False
    containers = [place.value]
    for level in range(len(place.steps), len(owners.steps)):
        step = owners.steps[level]
        if step.kind != "dict":
            return False
        names = {name for it in containers for name in _native.names_in(it)}
        steps = [*owners.steps[:level], Step("dict", frozenset(names) - step.keys)]
        if names - step.keys and uses_in(later, place.name, steps, code).reached:
            return True
        entries = [entry for it in containers for entry in _native.items_of(it)]
        containers = [it for key, it in entries if type(key) is str and key in step.keys]
    return False


def _since_computed_parts_were_read(
    owners: _Owners, by_cell: Sequence[PartUses]
) -> PartUses | None:
    """What the cells read after the last one that read what `cached_property` keeps in the objects; None where there
    is no such property, or these cells read nothing."""
    kind = type(owners.objects[0])
    computed = {
        name
        for base in ancestors_of(kind)
        for name, its in class_fields(base).items()
        if type(its) is functools.cached_property
    }
    own = {name for it in owners.objects for name in _fields(it) if type(name) is str}
    rest = PartUses()
    for uses in reversed(by_cell if computed & own else []):
        is_read = any(may_read(owners.objects[0], it, computed, own) for it in uses.operations)
        if uses.anything or is_read:
            break
        rest |= uses
    return rest if rest.operations else None


def _objects_in(value: Any, way: _Way, seen: set[int]) -> Iterator[tuple[Any, _Way]]:
    """(object, way there) of what is in containers and no data."""
    if id(value) in seen or len(seen) > _MOST:
        return
    seen.add(id(value))
    parts: list[tuple[str, Key, Any]] = []
    if _native.is_exactly(value, _DICTS):
        entries = _native.items_of(value, 0, _MOST)
        parts = [
            ("dict", key if _native.is_exactly(key, (str, int)) else None, it)
            for key, it in entries
        ]
    elif _native.is_exactly(value, _LISTS):
        parts = [("list", None, it) for it in _native.values_of(value, 0, _MOST)]
    elif type(value) is tuple:
        parts = [
            ("tuple", place, it) for place, it in enumerate(_native.values_of(value, 0, _MOST))
        ]
    elif _is_owner(value):
        yield value, way
    if len(way) < _DEEPEST:
        for step, key, it in parts:
            yield from _objects_in(it, (*way, (step, key)), seen)


def _is_owner(value: Any) -> bool:
    if type(value) is types.MethodType:
        value = value.__self__
    if value is None or is_module(value) or works_behind_the_scenes(value):
        return False
    return _is_one_of(value, _GROUPS) or not is_code_or_data(value)


def _is_one_of(value: object, classes: list[tuple[str, str]]) -> bool:
    return any(is_instance(value, *known) for known in classes)


def _holder(look: Look, place: Place, owners: _Owners, uses: PartUses) -> _native.Holder | None:
    alone = [it for it in owners.objects if place.is_alone(look, it)]
    unread = [(it, *_unread(look, it, uses)) for it in alone]
    unread = [(it, parts, kept) for it, parts, kept in unread if kept >= LEAST_BYTES]
    kept = sum(kept for _, _, kept in unread)
    first = owners.objects[0]
    of_user = type(first) is types.SimpleNamespace or is_users_class(type(_target(first)))
    # A value of the user's own making that no cell mentions is dead by its name alone.
    is_used = bool(uses.operations)
    if not unread or (of_user and not is_used):
        return None
    if of_user and len(unread) < _SEVERAL:
        [it, parts, _] = unread[0]
        is_under_name = it is place.value and not place.steps
        return _hidden_input(look, place, it, parts) if is_under_name else None
    if len(unread) < _SEVERAL and not is_used:
        return None
    if kept < (REPORTED_BYTES if is_used and len(unread) >= _SEVERAL else SINGLE_BYTES):
        return None
    large = {part for _, its, _ in unread for part in its}
    parts = sorted(large) if len(large) == 1 or of_user else []
    cause = cause_of(look.watcher.shell, place.births)
    return _native.Holder(
        "unread part",
        place.label,
        kept,
        cause.cell if cause else None,
        _native.type_name(first) + "".join(f".{part}" for part in parts[:1]),
        len(unread),
        _release(look, place, owners, parts)
        if parts and is_used
        else _emptying(look, place, owners),
        line=cause.line if cause else None,
    )


def _hidden_input(look: Look, place: Place, it: Any, parts: list[str]) -> _native.Holder | None:
    """The attribute of a single object that hides what it keeps."""
    fields = _fields(it)
    name = max(parts, key=lambda part: look.heap.retained_by(fields[part]), default="")
    kept = look.heap.retained_by(fields.get(name))
    if kept < SINGLE_BYTES or not keeps_its_input(fields[name]):
        return None
    cause = cause_of(look.watcher.shell, place.births)
    return _native.Holder(
        "kept input",
        f"{place.label}.{name}",
        kept,
        cause.cell if cause else None,
        _native.type_name(fields[name]),
        1,
        f"{place.label}.{name} = None",
        line=cause.line if cause else None,
    )


def _emptying(look: Look, place: Place, owners: _Owners) -> str:
    steps = owners.steps[len(place.steps) :]
    keys = steps[0].keys if steps and steps[0].kind == "dict" else frozenset[Key]()
    # What else the dictionary has is no part of it.
    if len(keys) == 1 and len(_native.names_in(place.value)) > 1:
        return f"del {place.label}[{next(iter(keys))!r}]"
    inner = steps[1].keys if len(steps) > 1 and steps[1].kind == "dict" else frozenset[Key]()
    rows = _native.values_of(place.value)
    if len(inner) == 1 and all(len(_native.names_in(it)) > 1 for it in rows):
        each = f"{place.label}.values()" if steps[0].kind == "dict" else place.label
        return f"[v.pop({next(iter(inner))!r}, None) for v in {each}];"
    return f"{place.label}.clear()" if place.steps else look.deleting(place.name)


def _release(look: Look, place: Place, owners: _Owners, parts: Sequence[str]) -> str:
    """Code that lets go of attributes of all objects; of the whole, where a library may need one."""
    first = owners.objects[0]
    if type(first) is types.MethodType or _native.is_kind_of(first, (dict,)):
        return _emptying(look, place, owners)
    letting_go = [_letting_go(first, part) for part in parts]
    if not all(letting_go):
        return _emptying(look, place, owners)
    gone = letting_go[0] if len(parts) == 1 else f"({', '.join(letting_go)})"
    loops, at = "", place.label
    steps = owners.steps[len(place.steps) :]
    if place.steps:
        each = place.each_alone(look) if len(steps) == 1 else ""
        return f"[{gone.replace('{}', 'v')} {each}];" if each else ""
    for level, (kind, keys, _) in enumerate(steps):
        [key, *others] = keys
        if kind == "list" or (kind == "dict" and others):
            loops += f" for v{level} in {at}{'.values()' if kind == 'dict' else ''}"
            at = f"v{level}"
        elif others or key is None:
            return _emptying(look, place, owners)
        else:
            at += f".{key}" if kind == "instance" else f"[{key!r}]"
    return f"[{gone.replace('{}', at)}{loops}];"


def _letting_go(owner: Any, part: str) -> str:
    """Code by which `{}` lets go of an attribute; empty where a library may need it."""
    value = _fields(owner).get(part)
    is_of_library = not is_users_class(type(owner))
    if is_of_library and _native.is_exactly(value, CONTAINERS):
        return f"{{}}.{part}.clear()"
    if is_of_library and not _is_data(value):
        return ""
    is_made_again = any(
        type(class_fields(base).get(part)) is functools.cached_property
        for base in ancestors_of(type(owner))
    )
    return f"vars({{}}).pop({part!r}, None)" if is_made_again else f"setattr({{}}, {part!r}, None)"


def _is_data(value: object) -> bool:
    if _native.is_kind_of(value, (str, bytes, bytearray)):
        return True
    return any("__array__" in class_fields(base) for base in ancestors_of(type(value)))


def _target(it: Any) -> Any:
    """Whose attributes count: of a bound method those of its object."""
    return it.__self__ if type(it) is types.MethodType else it


def _fields(it: Any) -> dict[Any, Any]:
    # SciPy's results are dictionaries, whose entries are read as attributes too.
    slots = slots_of(it) if is_users_class(type(it)) else {}
    return fields_of(it) | _native.entries_of(it) | slots


def _unread(look: Look, it: Any, uses: PartUses) -> tuple[list[str], int]:
    """The large attributes of an object that nothing reads, and what goes with them."""
    target, operations = _target(it), uses.operations
    whole = look.heap.retained_by(it)
    if not operations:
        return [], whole
    if type(it) is re.Match:
        return [], 0 if operations & _OF_THE_TEXT else whole
    if target is not it:
        called = it.__func__.__name__ if type(it.__func__) is types.FunctionType else "__call__"
        operations = {called if name == "__call__" else name for name in operations}
    fields = _fields(target)
    own = {name for name in fields if type(name) is str}
    alone = {name: look.heap.retained_by(fields[name]) for name in own}
    alone = {
        name: kept
        for name, kept in alone.items()
        if kept >= LEAST_BYTES
        and look.heap.keeps(it, fields[name])
        and not _is_one_of(fields[name], MODELS)
    }
    # What several attributes lead to, as a line does to its diagram, goes with all of them.
    together = {name for name in own - set(alone) if not _native.is_kind_of(fields[name], _PLAIN)}

    def reads(parts: set[str]) -> bool:
        return any(may_read(target, operation, parts, own) for operation in operations)

    parts = [name for name in alone if not reads({name})]
    kept = sum(alone[name] for name in parts)
    is_all = own and len(parts) == len(alone) and not reads(together)
    return parts, whole if is_all and not is_users_class(type(target)) else kept
