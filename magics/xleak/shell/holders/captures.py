"""Functions, partials and suspended generators that alone keep what they captured."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.holders.lambda_layers import functions_of_layers
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.places import container_of
from xleak.shell.modules import is_module

_INDEX = re.compile(r".+\[(\d+)\]")
_HEAD = re.compile(r"[^\W\d]\w*")
# Hooks and method caches are told by others.
_TOLD_ELSEWHERE = re.compile(r"Out\[|_|.*_hooks\[")
# Code captures code, as decorators do. What collects is a cache or a history, another smell.
_BY_DESIGN = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.ModuleType,
    types.CodeType,
    functools.partial,
    type,
    list,
    dict,
    set,
)


@dataclass
class _Kept:
    """What the functions in one place keep. largest: the type of a value; ways: expressions."""

    largest: str
    held: int = 0
    ways: list[str] = field(default_factory=list)


class Captures:
    """By the container of the functions, or the function's own expression."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those that a name of the user's leads to, and no other one."""
        found: dict[str, _Kept] = {}
        others = {*look.explained, *look.reported}
        for function, held in look.heap.keeping(_suspects(look), REPORTED_BYTES):
            way = _way_to_delete(look, function, held)
            is_known = not way or any(it.startswith(way) for it in others)
            largest = "" if is_known else _captured(look, function)
            if largest:
                kept = found.setdefault(container_of(way) or way, _Kept(largest))
                kept.held += held
                kept.ways.append(way)
        self._since = {place: self._since.get(place, look.cell) for place in found}
        for place, kept in found.items():
            since, count = self._since[place], len(kept.ways)
            release = _deleting(kept.ways)
            yield _native.Holder("captures", place, kept.held, since, kept.largest, count, release)


def _way_to_delete(look: Look, function: Any, held: int) -> str:
    """What to delete for it to go; empty where that is not known."""
    # One behind a decorator goes with what the decorator made.
    way = look.heap.way_to(function).partition(".__")[0]
    head = _HEAD.match(way)
    if head is None or not is_the_users(way) or _TOLD_ELSEWHERE.match(way):
        return ""
    # Elements of a tuple cannot be deleted.
    tuples = look.live.instances(tuple)
    fixed = any(it is function for each in tuples for it in tuple.__iter__(each))
    alone = look.heap.retained_bytes(head.group()) >= held
    return way if alone and not fixed else ""


def _captured(look: Look, function: Any) -> str:
    """The type of a large value that goes with a function; empty where it captured none."""
    for value in _values_of(function):
        large = look.heap.retained_by(value) >= REPORTED_BYTES
        if large and look.heap.keeps(function, value):
            return _native.type_name(value)
    return ""


def _suspects(look: Look) -> list[Any]:
    user_ns = look.watcher.shell.user_ns
    made = look.live.made_in(user_ns)
    functions = [it for it in made if type(it) is types.FunctionType and it.__closure__]
    partials = [
        it for it in look.live.instances(functools.partial) if type(it) is functools.partial
    ]
    generators = look.live.instances(types.GeneratorType)
    # A layer needs its function: it is another smell's.
    layered = functions_of_layers(look)
    functions = [it for it in functions if id(it) not in layered]
    # Under a name, in a verdict: one that no later cell mentions keeps its input, which is another smell.
    named = {id(it) for it in _native.values_of(user_ns)} if look.settled else set()
    suspended = [it for it in generators if _is_suspended(it, user_ns) and id(it) not in named]
    return functions + partials + suspended


def _is_suspended(generator: types.GeneratorType[Any, Any, Any], user_ns: dict[str, Any]) -> bool:
    frame = generator.gi_frame
    return frame is not None and frame.f_globals is user_ns and not generator.gi_running


def _values_of(function: Any) -> list[Any]:
    """What was captured, but what is there by design."""
    if type(function) is types.FunctionType:
        # An empty cell is left out: to ask it for its contents would raise.
        values = gc.get_referents(*(function.__closure__ or ()))
    elif type(function) is functools.partial:
        values = [*function.args, *_native.values_of(function.keywords)]
    else:
        values = gc.get_referents(function)
    return [it for it in values if not _native.is_kind_of(it, _BY_DESIGN) and not is_module(it)]


def _deleting(ways: list[str]) -> str:
    """The later elements of a list first, since those behind one that goes move up."""
    elements = [_INDEX.fullmatch(way) for way in ways]
    last = [int(it.group(1)) if it else 0 for it in elements]
    ordered = sorted(zip(last, ways, strict=True), reverse=True)
    return "; ".join(f"del {way}" for _, way in ordered)
