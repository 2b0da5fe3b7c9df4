"""Functions, bound methods, partials and suspended generators that alone keep what they captured."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.fields import is_instance
from xleak.shell.holders.containers import works_behind_the_scenes
from xleak.shell.holders.lambda_layers import functions_of_layers
from xleak.shell.holders.look import REPORTED_BYTES, SINGLE_BYTES, Look, is_the_users
from xleak.shell.holders.places import container_of, overlaps, parent_of, value_at
from xleak.shell.holders.uses import Uses, first_name
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
# So many in one container were collected; fewer are as likely in use.
_SEVERAL = 3


@dataclass
class _Kept:
    """What the functions in one place keep. largest: the type of a value; of_model: whether that is a module of
    torch's, which a function is about; is_out_of_sight: whether it is more than methods' objects and defaults, which
    code shows; ways: expressions."""

    largest: str
    of_model: bool
    is_out_of_sight: bool = False
    held: int = 0
    ways: list[str] = field(default_factory=list)


class Captures:
    """By the container of the functions, or the function's own expression."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """Those that a name of the user's leads to, and no other one."""
        found: dict[str, _Kept] = {}
        others = {*look.explained, *look.reported}
        for function, held in look.heap.keeping(_suspects(look), REPORTED_BYTES):
            way = _way_to_delete(look, function, held)
            is_known = not way or overlaps(way, others)
            value = None if is_known else _captured(look, function)
            if value is not None:
                of_model = is_instance(value, "torch.nn.modules.module", "Module")
                new = _Kept(_native.type_name(value), of_model)
                kept = found.setdefault(_place_of(way), new)
                kept.is_out_of_sight |= not _is_method_or_default(function, value)
                kept.held += held
                kept.ways.append(way)
        self._since = {place: self._since.get(place, look.cell) for place in found}
        is_used = self._uses.in_use(look)
        for place, kept in found.items():
            since, count = self._since[place], len(kept.ways)
            release = _deleting(kept.ways)
            is_large = look.settled and kept.held >= SINGLE_BYTES and not kept.of_model
            is_left = (count >= _SEVERAL or is_large) and not (
                is_used(first_name(place)) or _works_by_itself(look, place)
            )
            if not is_left and not kept.is_out_of_sight:
                continue
            kind = "unused captures" if is_left else "captures"
            yield _native.Holder(kind, place, kept.held, since, kept.largest, count, release)


def _works_by_itself(look: Look, place: str) -> bool:
    owner = _native.value_at(look.watcher.shell.user_ns, first_name(place))
    return works_behind_the_scenes(owner)


def _place_of(way: str) -> str:
    """The container that has it, or that has the object whose attribute it is; elsewhere the function's expression."""
    return container_of(way) or container_of(parent_of(way)) or way


def _way_to_delete(look: Look, function: Any, held: int) -> str:
    """What to delete for it to go; empty where that is not known."""
    # One behind a decorator goes with what the decorator made.
    way = look.heap.way_to(function).partition(".__")[0]
    head = _HEAD.match(way)
    if head is None or not is_the_users(way) or _TOLD_ELSEWHERE.match(way):
        return ""
    if _is_in_a_tuple(look, way):
        # It cannot be deleted from there, and goes with the tuple where that is an element itself.
        way = way.rpartition("[")[0]
        if "[" not in way or _is_in_a_tuple(look, way):
            return ""
    is_name = way == head.group()
    kept = look.heap.retained_bytes(way) if is_name else look.kept_with(head.group())
    return way if kept >= held else ""


def _is_in_a_tuple(look: Look, way: str) -> bool:
    around = way.rpartition("[")[0]
    return type(value_at(look.watcher.shell.user_ns, around)) is tuple


def _captured(look: Look, function: Any) -> Any:
    """A large value that goes with a function; None where it captured none."""
    for value in _captured_by(function):
        large = look.heap.retained_by(value) >= REPORTED_BYTES
        if large and look.heap.keeps(function, value):
            return value
    return None


def _is_method_or_default(function: Any, value: Any) -> bool:
    if type(function) is not types.FunctionType:
        return type(function) is types.MethodType
    return all(value is not it for it in gc.get_referents(*(function.__closure__ or ())))


def _suspects(look: Look) -> list[Any]:
    user_ns = look.watcher.shell.user_ns
    made = look.live.made_in(user_ns)
    # A layer needs its function: it is another smell's.
    layered = functions_of_layers(look)
    callables = [
        *(it for it in made if type(it) is types.FunctionType and id(it) not in layered),
        *(it for it in look.live.instances(functools.partial) if type(it) is functools.partial),
        *look.live.instances(types.MethodType),
    ]
    generators = look.live.instances(types.GeneratorType)
    # Under a name, in a verdict: one that no later cell uses keeps its input, which is another smell.
    named = {id(it) for it in _native.values_of(user_ns)} if look.settled else set()
    suspended = [it for it in generators if _is_suspended(it, user_ns) and id(it) not in named]
    return [it for it in callables if _captured_by(it)] + suspended


def _is_suspended(generator: types.GeneratorType[Any, Any, Any], user_ns: dict[str, Any]) -> bool:
    frame = generator.gi_frame
    return frame is not None and frame.f_globals is user_ns and not generator.gi_running


def _captured_by(function: Any) -> list[Any]:
    """What a callable or a generator keeps from where it was made, but what is there by design."""
    if type(function) is types.FunctionType:
        # An empty cell is left out: to ask it for its contents would raise.
        captured = gc.get_referents(*(function.__closure__ or ()))
        defaults = (function.__kwdefaults__ or {}).values()
        values = [*captured, *(function.__defaults__ or ()), *defaults]
    elif _native.is_exactly(function, (functools.partial, types.MethodType)):
        values = [function]
    else:
        values = gc.get_referents(function)
    # A method, also behind partials, is about its object.
    values = [it.__self__ if type(it) is types.MethodType else it for it in _bound_by(values)]
    return [it for it in values if not _native.is_kind_of(it, _BY_DESIGN) and not is_module(it)]


def _bound_by(values: list[Any]) -> list[Any]:
    """The values, with what partials among them have in the place of these."""
    found, pending = [], list(values)
    seen: set[int] = set()
    while pending:
        it = pending.pop()
        if type(it) is not functools.partial:
            found.append(it)
        elif id(it) not in seen:
            # The keywords of one may have the partial itself.
            seen.add(id(it))
            pending += [it.func, *it.args, *_native.values_of(it.keywords)]
    return found


def _deleting(ways: list[str]) -> str:
    """The later elements of a list first, since those behind one that goes move up."""
    elements = [_INDEX.fullmatch(way) for way in ways]
    last = [int(it.group(1)) if it else 0 for it in elements]
    ordered = sorted(zip(last, ways, strict=True), reverse=True)
    return "; ".join(f"del {way}" for _, way in ordered)
