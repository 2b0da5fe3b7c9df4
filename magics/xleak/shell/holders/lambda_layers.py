"""Lambda layers of Keras whose functions captured arrays, tensors or layers."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.fields import instances
from xleak.shell.holders.look import REPORTED_BYTES, Look, is_the_users
from xleak.shell.holders.origin import plain_function

_HEAD = re.compile(r"[^\W\d]\w*")


def lambda_layers(look: Look) -> Iterator[_native.Holder]:
    """One holder for each name of the user's that leads to such layers."""
    by_head: dict[str, list[Any]] = {}
    for layer, function in _layers(look):
        way = look.heap.way_to(layer)
        name = _HEAD.match(way)
        if name and is_the_users(way) and not way.startswith("Out["):
            by_head.setdefault(name.group(), []).append(function)
    for head, functions in by_head.items():
        held = look.heap.freed_without(functions)
        captured = [it for function in functions for it in _captured(function)]
        largest = max(captured, key=look.heap.retained_by, default=None)
        if held >= REPORTED_BYTES and largest is not None:
            kind, label = "lambda layers", f"Lambda layers of {head}"
            named = _native.type_name(largest)
            yield _native.Holder(kind, label, held, None, named, len(functions), "")


def functions_of_layers(look: Look) -> set[int]:
    """The ids of all functions that Lambda layers call."""
    return {id(function) for _, function in _layers(look)}


def _layers(look: Look) -> Iterator[tuple[Any, Any]]:
    """(layer, function) of those whose function captured something."""
    for layer, fields in instances(look.live, "keras.src.layers.core.lambda_layer", "Lambda"):
        function = plain_function(fields.get("function"))
        if type(function) is types.FunctionType and _captured(function):
            yield layer, function


def _captured(function: types.FunctionType) -> list[Any]:
    # An empty cell is left out: to ask it for its contents would raise.
    values = gc.get_referents(*(function.__closure__ or ()))
    return [*values, *(function.__defaults__ or ())]
