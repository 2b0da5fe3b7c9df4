"""What tf.function compiled of the user's code."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.fields import class_fields, instances
from xleak.shell.holders.origin import is_in_library

MODULE = "tensorflow.python.eager.polymorphic_function.polymorphic_function"


@dataclass(frozen=True)
class Compiled:
    """One function, for the time of a look."""

    object: Any
    code: types.CodeType | None
    """Of the user's function; None where it has none, or a library has it."""
    traces: dict[Any, Any]
    """By signature what TensorFlow calls a concrete function."""
    fields: dict[str, Any]


def compiled_functions(live: _native.LiveObjects) -> Iterator[Compiled]:
    """All that are alive, those of libraries too."""
    for function, fields in instances(live, MODULE, "Function"):
        traces = traces_of(fields)
        if traces is not None:
            code = fields.get("_key_for_call_stats")
            known = type(code) is types.CodeType and not is_in_library(code.co_filename)
            yield Compiled(function, code if known else None, traces, fields)


def traces_of(fields: dict[str, Any]) -> dict[Any, Any] | None:
    """By signature what a function was traced for; None where TensorFlow keeps it otherwise."""
    cache = fields.get("_function_cache")
    slot = class_fields(type(cache)).get("_primary")
    found = slot.__get__(cache) if type(slot) is types.MemberDescriptorType else None
    return found if issubclass(type(found), dict) else None


def count_traces(traces: dict[Any, Any]) -> int:
    """How often a function was traced for its arguments: the first trace of one that makes
    variables is for them, and is followed by another."""
    count = dict.__len__(traces)
    return count - (count > 1 and _scope(next(iter(traces))) is not _scope(next(reversed(traces))))


def _scope(signature: Any) -> object:
    context = signature[0] if type(signature) is tuple and signature else ()
    return tuple.__getitem__(context, -1) if issubclass(type(context), tuple) and context else None
