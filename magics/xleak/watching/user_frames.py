"""The user's running functions: where they are, and what their names stand for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

import xleak
from xleak import _native
from xleak.originals import _getframe, getrefcount, gettrace, os
from xleak.shell.holders.origin import is_in_library

OWN = os.path.dirname(os.path.abspath(xleak.__file__)) + os.sep

# (dictionary, its own key, label), as the snapshot of the heap takes them.
Slot = tuple[dict[Any, Any], object, str]


def user_frames() -> list[FrameType]:
    """Those of this thread that no library's code runs in, innermost first."""
    found: list[FrameType] = []
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        if not is_own(frame.f_code.co_filename) and not is_in_library(frame.f_code.co_filename):
            found.append(frame)
        frame = frame.f_back
    return found


def is_own(file: str) -> bool:
    """Whether a file is xleak's."""
    return file.startswith(OWN)


def place() -> tuple[str, int]:
    """File and line of the user's that runs; of a library where it is all libraries."""
    frames = user_frames()
    if frames:
        return frames[0].f_code.co_filename, frames[0].f_lineno
    frame: FrameType | None = _getframe(1)
    while frame is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def slots(namespaces: list[dict[str, Any]] | None = None) -> list[Slot]:
    """What each name of the running functions stands for, then each of their modules, then those of
    other namespaces."""
    found: list[Slot] = []
    labels: set[str] = set()
    frames = user_frames()
    for frame in frames:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            found += _of(_locals_of(frame), f" in {frame.f_code.co_name}()", labels)
    modules = [*(frame.f_globals for frame in frames), _native.fields_of_module("__main__")]
    modules += namespaces or []
    for names in {id(it): it for it in modules}.values():
        module = _native.value_at(names, "__name__")
        found += _of(names, f" in {module}" if type(module) is str else "", labels)
    return found


def _of(names: dict[Any, Any], whose: str, labels: set[str]) -> Iterator[Slot]:
    for name, value in _native.items_of(names):
        if type(name) is str and not name.startswith("__") and type(value) is not ModuleType:
            label = name if name not in labels else name + whose
            labels.add(name)
            yield names, name, label


def _locals_of(frame: FrameType) -> dict[str, Any]:
    # A debugger writes this dictionary back into the frame.
    if gettrace() is not None:
        return {}
    shown = frame.f_locals
    names = dict(shown)
    # Before Python 3.13 the frame keeps the dictionary, and so each value, until it returns. The one
    # who has it beside the frame, this function and the call below asked for it with locals().
    if type(shown) is dict and getrefcount(shown) <= 3:
        shown.clear()
    return names
