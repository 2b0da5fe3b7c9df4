"""What the function of a hook adds to, read from its code."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.holders.look import Look
from xleak.shell.holders.origin import plain_function

_GROWS = {"append", "extend", "insert"}


def grown_by(function: Any, look: Look) -> Iterator[Any]:
    """The lists, and the dictionaries of lists, that a hook appends to."""
    plain = plain_function(function)
    if type(plain) is not types.FunctionType:
        return
    code = plain.__code__
    names = set(_grown_names(code))
    cells = zip(code.co_freevars, plain.__closure__ or (), strict=False)
    # An empty cell is left out: to ask it for its contents would raise.
    values = [it for name, cell in cells if name in names for it in gc.get_referents(cell)]
    values += [_native.value_at(plain.__globals__, name) for name in names]
    for value in [*values, *_attributes(function, names, look)]:
        if type(value) is list or _native.is_kind_of(value, dict):
            yield value


def lists_of(container: Any) -> list[list[Any]]:
    """A list itself, or those that are a dictionary's values."""
    if type(container) is list:
        return [container]
    return [value for value in _native.values_of(container) if type(value) is list]


def _grown_names(code: types.CodeType) -> Iterator[str]:
    """`acts` of acts.append(…), acts[key].append(…) and self.acts.append(…)."""
    steps = list(dis.get_instructions(code))
    for at, step in enumerate(steps):
        if step.argval not in _GROWS or not step.opname.startswith("LOAD_"):
            continue
        before = at - 1
        if steps[before].opname == "BINARY_SUBSCR" or steps[before].argrepr == "[]":
            before -= 2
        if before >= 0 and type(steps[before].argval) is str:
            yield steps[before].argval


def _attributes(function: Any, names: set[str], look: Look) -> Iterator[Any]:
    """Attributes with these names of the object that a method belongs to."""
    if type(function) is not types.MethodType:
        return
    # Without asking the object: its dictionary, or the values in place of one.
    for value in gc.get_referents(function.__self__):
        inner = _native.values_of(value) if type(value) is dict else []
        for it in [value, *inner]:
            collects = type(it) is list or _native.is_kind_of(it, dict)
            if collects and look.heap.way_to(it).rpartition(".")[2] in names:
                yield it
