"""What tf.function compiled of the user's code."""

from __future__ import annotations

import types
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, instances, slot_of
from xleak.shell.holders.origin import is_in_library

_MODULE = "tensorflow.python.eager.polymorphic_function.polymorphic_function"


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
    for function, fields in instances(live, _MODULE, "Function"):
        traces = traces_of(fields)
        if traces is not None:
            code = fields.get("_key_for_call_stats")
            known = type(code) is types.CodeType and not is_in_library(code.co_filename)
            yield Compiled(function, code if known else None, traces, fields)


def traces_of(fields: dict[str, Any]) -> dict[Any, Any] | None:
    """By signature what a function was traced for; None where TensorFlow keeps it otherwise."""
    found = slot_of(fields.get("_function_cache"), "_primary")
    return found if _native.is_kind_of(found, dict) else None


def count_traces(traces: dict[Any, Any]) -> int:
    """How often a function was traced for its arguments: the first trace of one that makes
    variables is for them, and is followed by another."""
    keys = [key for key, _ in _native.items_of(traces)]
    return len(keys) - (len(keys) > 1 and _scope(keys[0]) is not _scope(keys[-1]))


def detectors() -> list[tuple[Any, Any]]:
    """(weak reference to a code, what TensorFlow notes of its calls)."""
    manager = _native.fields_of_module(_MODULE).get("_frequent_tracing_detector_manager")
    table = slot_of(manager, "_detectors")
    data = fields_of(table).get("data") if type(table) is weakref.WeakKeyDictionary else None
    return _native.items_of(data)


def count_called() -> int:
    """How many of tf.function's objects were called at least once in the process."""
    counter = _native.fields_of_module(_MODULE).get("_tf_function_counter")
    return 0 if counter is None else int(counter.get_cell("0").value())


def recent_traces(detector: object) -> int:
    """How many of the last calls traced. An entry is the number of calls from one trace on; the
    first is 0 where the first call found a trace."""
    calls = slot_of(detector, "_calls_per_tracings")
    return list.__len__(calls) - (calls[:1] == [0]) if type(calls) is list else 0


def _scope(signature: Any) -> object:
    context = signature[0] if type(signature) is tuple and signature else ()
    return (
        tuple.__getitem__(context, -1) if _native.is_kind_of(context, tuple) and context else None
    )
