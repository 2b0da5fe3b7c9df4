"""Values at expressions of the user's, and code that puts others in their place."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

from xleak import _native
from xleak.shell.fields import class_fields, fields_of, slots_of

_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\['([^'\\]*)'\]")
_LAST = re.compile(r"(.+)(?:\.\w+|\[\d+\]|\['[^'\\]*'\])")
_ELEMENT = re.compile(r"(.+)(?:\[\d+\]|\['[^'\\]*'\])")
# What modules of torch and objects with traits keep in dictionaries of theirs is known as their attributes.
_IN_DICTIONARY = re.compile(r"\._(?:modules|buffers|parameters|trait_values)\['([^\W\d]\w*)'\]")

# From the expression of a value the one of what takes its place.
Replacing = Callable[[str], str]


def as_written(way: str) -> str:
    """A way through torch's modules, or through objects with traits, as its user writes it: `net.norm.centre`."""
    return _IN_DICTIONARY.sub(r".\1", way)


def container_of(way: str) -> str:
    """The expression of the list, tuple or dictionary that a value is an element of; empty where it
    is none's."""
    found = _ELEMENT.fullmatch(way)
    return found.group(1) if found else ""


def first_container_of(way: str) -> str:
    """The expression of the first container that a way goes through; empty without one."""
    head, bracket, _ = way.partition("[")
    return head if bracket else ""


def parent_of(way: str) -> str:
    """The expression of what a value is an attribute or an element of; empty for a name."""
    found = _LAST.fullmatch(way)
    return found.group(1) if found else ""


def is_within(way: str, others: Iterable[str]) -> bool:
    """Whether a way leads on from one of the others."""
    return any(way.startswith((f"{other}[", f"{other}.")) for other in others)


def overlaps(way: str, others: Collection[str]) -> bool:
    """Whether it is one of the others, leads on from one or to one."""
    return way in others or is_within(way, others) or any(is_within(it, [way]) for it in others)


def value_at(namespace: dict[Any, Any], way: str) -> Any:
    """What an expression stands for, None where it cannot be told; asks no object."""
    name = re.match(r"\w+", way)
    value = _native.value_at(namespace, name.group()) if name else None
    for attribute, index, key in _STEP.findall(way[name.end() :] if name else ""):
        if attribute:
            fields = fields_of(value)
            value = (fields if attribute in fields else slots_of(value)).get(attribute)
        elif index and _native.is_kind_of(value, (list, tuple, deque)):
            value = _item(value, int(index))
        else:
            value = _native.value_at(value, int(index) if index else key)
    return value


def replacing(namespace: dict[Any, Any], ways: Iterable[str], by: Replacing) -> str | None:
    """Code that replaces the values at expressions; None where a place cannot be assigned to.

    A tuple that has one is made again, since it cannot take another value.
    """
    wanted = set(ways)
    places = {place_of(namespace, way): None for way in sorted(wanted)}
    if "" in places:
        return None
    return "; ".join(
        f"{as_written(place)} = {_anew(place, value_at(namespace, place), wanted, by)}"
        for place in places
    )


def place_of(namespace: dict[Any, Any], way: str) -> str:
    """What can be assigned to for a value to be replaced: not a part of a tuple, but the whole.
    Empty where nothing can, such as in a tuple of a class that has no names for its parts."""
    parent = value_at(namespace, parent_of(way)) if parent_of(way) else None
    if type(parent) is tuple or names_of_parts(parent):
        return place_of(namespace, parent_of(way))
    return "" if _native.is_kind_of(parent, tuple) else way


def names_of_parts(value: Any) -> list[str]:
    """Those of a named tuple; empty for any other object."""
    fields = class_fields(type(value)) if _native.is_kind_of(value, tuple) else {}
    return _native.values_of(fields.get("_fields")) if "_replace" in fields else []


def tuples_to(namespace: dict[Any, Any], way: str) -> list[Any]:
    """The tuples that have to be made again for a value to be replaced."""
    found = []
    while _native.is_kind_of(value := value_at(namespace, way := parent_of(way)), tuple):
        found.append(value)
    return found


def in_deque(place: str, made: str) -> str:
    """Code that puts others in the places of all elements of a deque, whatever its length may be. made: from `v`."""
    return f"{place}.extend([{made} for v in ({place}.popleft() for _ in range(len({place})))])"


def _anew(way: str, value: Any, wanted: set[str], by: Replacing) -> str:
    if way in wanted:
        return by(as_written(way))
    names = names_of_parts(value)
    is_open = type(value) is tuple or names
    if not is_open or not any(it.startswith(way + "[") for it in wanted):
        return as_written(way)
    items = [f"{way}[{index}]" for index in range(tuple.__len__(value))]
    if wanted.issuperset(items) and not names:
        return f"tuple({by('s')} for s in {as_written(way)})"
    parts = [
        _anew(it, part, wanted, by)
        for it, part in zip(items, _native.values_of(value), strict=True)
    ]
    if names:
        changed = zip(names, parts, items, strict=True)
        made = (f"{name}={part}" for name, part, item in changed if part != as_written(item))
        return f"{as_written(way)}._replace({', '.join(made)})"
    return f"({', '.join(parts)},)"


def _item(value: Any, index: int) -> Any:
    return next(iter(_native.values_of(value, index, index + 1)), None)
