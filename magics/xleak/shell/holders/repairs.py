"""Code that takes memory out of what keeps it: the reference that goes is the user's, and that it frees the memory is
known by the graph of the heap before it is offered."""

from __future__ import annotations

import functools
import re
import sys
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from xleak import _native
from xleak.shell.fields import ancestors_of, class_fields, dictionary_of, fields_of, is_instance
from xleak.shell.holders.containers import is_users_class, is_users_function
from xleak.shell.holders.look import LEAST_BYTES, Look
from xleak.shell.holders.origin import as_function, is_of_the_user, name_and_module, plain_function
from xleak.shell.holders.places import as_written
from xleak.shell.registries import registries_with_code

_STEP = re.compile(r"\.(\w+)|\[(-?\d+)\]|\['([^'\\]*)'\]")
_NAME = re.compile(r"[^\W\d]\w*")
_PRIVATE = re.compile(r"\._")
_OF_MODULE: Any = vars(types.ModuleType)["__dict__"]
_CALLABLE = (types.FunctionType, types.MethodType, functools.partial)
_LISTS = (list, deque)
_CONTAINERS = (list, deque, dict, set, defaultdict, OrderedDict)
# Rounding, and what a container takes itself.
_NEARLY_ALL = 0.9

# Cycles, as classes are, wait for the collector.
_COLLECTED = '; __import__("gc").collect();'

_Link = tuple[object, object]


@dataclass(frozen=True)
class _Step:
    """An object on a way, the expression that leads to it, and the last part of that."""

    place: str
    object: Any
    by: str = ""


@dataclass(frozen=True)
class _Cut:
    """References that code lets go of."""

    code: str
    links: list[_Link]


def object_at(look: Look, way: str) -> Any:
    """What a way leads to, the user's or one that starts at a registry; None where it cannot be told."""
    steps, is_all = _steps(look, way)
    return steps[-1].object if steps and is_all else None


def taking_out(look: Look, way: str, held: int) -> str:
    """Code that frees nearly all of the bytes that are held at a way; empty where none is known."""
    steps, is_all = _steps(look, way.removesuffix(".__dict__"))
    if not steps or way.endswith(".base"):
        # What an array shows a part of is never set by others.
        return ""
    for cut in _cuts(look, steps, is_all, held):
        freed = sum(look.heap.freed_by([], cut.links).values())
        if freed >= _NEARLY_ALL * held:
            waits = look.heap.would_wait([], cut.links)
            return f"{cut.code.rstrip(';')}{_COLLECTED}" if waits else cut.code
    return ""


def _steps(look: Look, way: str) -> tuple[list[_Step], bool]:
    """The objects on a way as far as expressions lead, and whether that is all of it."""
    rest, steps = way, []
    for label, code, registry in _roots(look):
        if way.startswith(label) and way[len(label) : len(label) + 1] in ("", ".", "["):
            steps, rest = [_Step(code, registry)], way[len(label) :]
            break
    else:
        name = _NAME.match(way)
        if name is None:
            return [], False
        value = _native.value_at(look.watcher.shell.user_ns, name.group())
        steps, rest = [_Step(name.group(), value)], way[name.end() :]
    while rest:
        found = _STEP.match(rest)
        value = _part(steps[-1].object, *found.groups()) if found else None
        if found is None or value is None:
            return steps, False
        steps.append(_Step(steps[-1].place + found.group(), value, found.group()))
        rest = rest[found.end() :]
    return steps, True


def _roots(look: Look) -> Iterator[tuple[str, str, object]]:
    yield from registries_with_code(look.watcher.shell)
    yield "sys.modules", '__import__("sys").modules', sys.modules


def _part(owner: Any, attribute: str | None, index: str | None, key: str | None) -> Any:
    if attribute:
        return _attribute(owner, attribute)
    if index and _native.is_kind_of(owner, (list, tuple, deque)):
        return next(iter(_native.values_of(owner, int(index), int(index) + 1)), None)
    return _native.value_at(owner, int(index) if index else key)


def _attribute(owner: Any, name: str) -> Any:
    if name == "__dict__":
        return dictionary_of(owner)
    if _native.is_kind_of(owner, type):
        return class_fields(owner).get(name)
    found = (
        _native.value_at(_OF_MODULE.__get__(owner), name)
        if _native.is_kind_of(owner, types.ModuleType)
        else None
    )
    if found is None:
        found = fields_of(owner).get(name)
    if found is not None:
        return found
    if _native.is_exactly(owner, (types.FunctionType, types.CellType)):
        return getattr(owner, name, None)
    for base in ancestors_of(type(owner)):
        slot = class_fields(base).get(name)
        if type(slot) is types.MemberDescriptorType:
            try:
                return slot.__get__(owner)
            except AttributeError:
                return None
    return None


def _cuts(look: Look, steps: list[_Step], is_all: bool, held: int) -> Iterator[_Cut]:
    """From what is registered to the last reference."""
    root_is_users = steps[0].place.isidentifier()
    for at, (owner, step) in enumerate(pairwise(steps), 1):
        behind = next((it for it in steps[at:] if type(it.object) is not tuple), step)
        if _is_registered(look, behind.object, root_is_users):
            yield from _without_element(owner, step)
            break
    last = steps[-1]
    if is_all and len(steps) > 1 and _native.is_exactly(last.object, _CONTAINERS):
        closes = root_is_users and _closes(steps)
        yield _closed(steps) if closes else _emptied(look, last)
    if is_all and len(steps) > 1:
        yield from _let_go(look, steps[-2], last, root_is_users)
    if not is_all and _native.is_exactly(last.object, dict):
        # What no expression leads to, as a type that is the key of its entry.
        values = _native.values_of(last.object)
        enough = [look.heap.retained_by(it) >= _NEARLY_ALL * held for it in values]
        if any(enough):
            yield _without_entries(last, [at for at, is_it in enumerate(enough) if is_it])


def _is_registered(look: Look, it: Any, root_is_users: bool) -> bool:
    """Whether it is a function of the user's, or any that an object of theirs was given."""
    function = plain_function(as_function(it))
    if type(function) is not types.FunctionType:
        return False
    if root_is_users and _native.is_exactly(it, _CALLABLE):
        return True
    return is_users_function(function, look) or is_of_the_user(name_and_module(it)[1])


def _without_element(owner: _Step, step: _Step) -> Iterator[_Cut]:
    place = as_written(owner.place)
    if _native.is_exactly(owner.object, _LISTS) or _native.is_kind_of(owner.object, dict):
        yield _Cut(f"del {place}{step.by}", [(owner.object, step.object)])


def _closed(steps: Sequence[_Step]) -> _Cut:
    it = steps[-1].object
    links = [(it, element) for element in _native.values_of(it)]
    return _Cut(f"{as_written(steps[-2].place)}.close()", links)


def _emptied(look: Look, container: _Step) -> _Cut:
    """Without the elements that have large memory."""
    it, place = container.object, as_written(container.place)
    elements = _native.values_of(it)
    if any(is_instance(one, "asyncio.events", "Handle") for one in elements):
        # The loop has them in an order of its own.
        is_users = 'getattr(it._callback, "__module__", "") == "__main__"'
        cancelling = f"[it.cancel() for it in list({place}) if {is_users}];"
        return _Cut(cancelling, [(it, one) for one in elements if _calls_the_users(look, one)])
    keys = [key for key, _ in _native.items_of(it)]
    holding = [at for at, one in enumerate(elements) if _holds(look, one, keys[at : at + 1])]
    if len(holding) == len(elements) or type(it) is set:
        return _Cut(f"{place}.clear()", [(it, one) for one in [*elements, *keys]])
    if keys:
        return _without_entries(container, holding)
    deleting = "; ".join(f"del {place}[{at}]" for at in reversed(holding))
    return _Cut(deleting, [(it, elements[at]) for at in holding])


def _without_entries(container: _Step, numbers: Sequence[int]) -> _Cut:
    it, place = container.object, as_written(container.place)
    entries = _native.items_of(it)
    links = [(it, one) for at in numbers for one in entries[at]]
    chosen = ", ".join(map(str, numbers))
    return _Cut(
        f"[{place}.pop(k) for n, k in enumerate(list({place})) if n in {{{chosen}}}];", links
    )


def _closes(steps: Sequence[_Step]) -> bool:
    """Whether it is a part of a library's object that has a `close()`."""
    if not _PRIVATE.match(steps[-1].by):
        return False
    owner = type(steps[-2].object)
    return not is_users_class(owner) and any(
        type(class_fields(base).get("close")) is types.FunctionType for base in ancestors_of(owner)
    )


def _calls_the_users(look: Look, handle: object) -> bool:
    callback = _attribute(handle, "_callback")
    function = plain_function(as_function(callback))
    return is_users_function(function, look) and not _native.is_exactly(callback, functools.partial)


def _holds(look: Look, element: Any, keys: list[Any]) -> bool:
    return any(look.heap.retained_by(it) >= LEAST_BYTES for it in [element, *keys])


def _let_go(look: Look, owner: _Step, last: _Step, root_is_users: bool) -> Iterator[_Cut]:
    """An attribute of an object of the user's, or an element of a container."""
    links: list[_Link] = [(owner.object, last.object)]
    is_users = is_users_class(type(owner.object)) or (
        root_is_users and not _PRIVATE.search(last.place)
    )
    if last.by.startswith("["):
        if root_is_users:
            yield from _without_element(owner, last)
    elif is_users and not last.by.startswith(".__"):
        attributes = dictionary_of(owner.object)
        yield _Cut(f"{as_written(last.place)} = None", [*links, (attributes, last.object)])
