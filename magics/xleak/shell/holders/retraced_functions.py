"""Functions that TensorFlow traced again and again within one cell, and those built for one call."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.fields import fields_of
from xleak.shell.holders.look import Look, is_the_users
from xleak.shell.holders.origin import is_in_library
from xleak.shell.holders.tf_functions import (
    Compiled,
    compiled_functions,
    count_traces,
    detectors,
    recent_traces,
    traces_of,
)
from xleak.shell.own_ref import OwnRef

# As many in a row TensorFlow itself warns of.
_TRACES = 5
_NAME = re.compile(r"[^\W\d]\w*")
# Signatures that the user asks for are no accident.
_ASKED_FOR = "get_concrete_function"


@dataclass(frozen=True)
class _Known:
    """A function of the user's, and how often it was traced when the last cell ended."""

    object: OwnRef[Any]
    traces: int


@dataclass(frozen=True)
class _Traced:
    """What was traced too often in one cell."""

    object: OwnRef[Any]
    """The function; of those that were built again their common code."""
    cell: int
    count: int


class RetracedFunctions:
    """Told while the function is there; of functions built again while their code is."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._lengths: dict[int, int] = {}
        """By detector of TensorFlow's, one for each code, the traces among its last calls."""
        self._fresh: dict[int, int] = {}
        """Codes that were called for the first time since the last look, and the cell."""
        self._grown: dict[int, _Traced] = {}
        self._rebuilt: dict[int, _Traced] = {}

    def after_cell(self, cell: int) -> bool:
        """Whether there is something to tell, or no longer, or a function to know."""
        found = detectors()
        if not found and not self._known:
            return False
        changed = self._forget()
        before, self._lengths = self._lengths, {}
        for reference, detector in found:
            count = recent_traces(detector)
            self._lengths[id(detector)] = count
            rise = count - before.get(id(detector), 0)
            code = reference() if rise else None
            if type(code) is not types.CodeType or is_in_library(code.co_filename):
                continue
            if id(detector) not in before:
                self._fresh[id(code)] = cell
                changed = True
            if rise >= _TRACES:
                self._rebuilt[id(code)] = _Traced(OwnRef(code), cell, rise)
                changed = True
        return self._count_known(cell) or changed

    def _forget(self) -> bool:
        """Whether something that was to tell is gone."""
        gone = False
        for table in (self._grown, self._rebuilt):
            for key in [key for key, it in table.items() if it.object() is None]:
                del table[key]
                gone = True
        return gone

    def _count_known(self, cell: int) -> bool:
        """Counts the traces of the functions that are known; whether one has many more."""
        many = False
        for key, it in list(self._known.items()):
            function = it.object()
            traces = traces_of(fields_of(function)) if function is not None else None
            if traces is None:
                del self._known[key]
                continue
            now = count_traces(traces)
            if now - it.traces >= _TRACES:
                self._grown[key] = _Traced(it.object, cell, now - it.traces)
                many = True
            if now != it.traces:
                self._known[key] = _Known(it.object, now)
        return many

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each function, and for each code that many functions had."""
        self._forget()
        compiled = [it for it in compiled_functions(look.live) if it.code is not None]
        for it in compiled:
            self._learn(it)
        self._fresh.clear()
        if any(_ASKED_FOR in source for source in look.sources.values()):
            self._grown.clear()
        for it in compiled:
            grown = self._grown.get(id(it.object))
            if grown is not None:
                self._rebuilt.pop(id(it.code), None)
                yield from _holder(it, grown, look)
        for key, rebuilt in list(self._rebuilt.items()):
            ours = [it for it in compiled if it.code == rebuilt.object()]
            kept = sum(bool(it.traces) for it in ours)
            if rebuilt.count - kept < _TRACES:
                del self._rebuilt[key]
                continue
            name = getattr(rebuilt.object(), "co_name", "")
            # What a class has is never called itself: each object has one of its own.
            kind = "retraced method" if kept < len(ours) else "rebuilt function"
            label = f"{name}, from {name_of_run(rebuilt.cell)} on"
            yield _native.Holder(kind, label, 0, rebuilt.cell, name, rebuilt.count, "")

    def _learn(self, it: Compiled) -> None:
        count = count_traces(it.traces) if it.traces else 0
        known = self._known.get(id(it.object))
        if known is None or known.object() is not it.object:
            reference = OwnRef(it.object)
            cell = self._fresh.get(id(it.code))
            if cell is not None and count >= _TRACES:
                self._grown[id(it.object)] = _Traced(reference, cell, count)
            self._known[id(it.object)] = _Known(reference, count)


def _holder(it: Compiled, grown: _Traced, look: Look) -> Iterator[_native.Holder]:
    hushed = it.fields.get("_omit_frequent_tracing_warning")
    if it.code is None or hushed or not look.heap.is_reached(it.object):
        return
    way = look.heap.way_to(it.object)
    alone = _NAME.fullmatch(way) and not look.heap.ways_besides(it.object, [way], 1)
    release = f'del {way}; __import__("gc").collect();' if alone else ""
    count, name = dict.__len__(it.traces), it.code.co_name
    # A method's function is found by its object, in a table of TensorFlow's.
    label = way if is_the_users(way) else f"{name}, from {name_of_run(grown.cell)} on"
    yield _native.Holder("retraced function", label, 0, grown.cell, name, count, release)
