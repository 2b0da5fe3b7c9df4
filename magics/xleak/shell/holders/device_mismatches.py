"""What a cell failed for whose tensors lie on several devices: the module that was called, and what with."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, locals_of
from xleak.shell.holders.look import Look, is_the_users
from xleak.shell.holders.places import as_written
from xleak.shell.module_devices import UNKNOWN, device_of, has_dimensions
from xleak.shell.modules import entries_of, is_module, parts_of
from xleak.shell.tensor_fields import is_tensor
from xleak.shell.tracebacks import frames_of_last

# In the words of torch for operations, for recurrent layers, and for convolutions on a card.
_FAILED = re.compile(
    r"Expected all tensors to be on the same device|is not on the expected device"
    r"|tensors are not at the same device|Input type \(.+ and weight type \("
)
_QUESTION = re.compile(r"\s*%(?:leakcheck|memreport|xleak)\b[^\n]*\s*$")
_MODULE_FILE = "torch/nn/modules/module.py"
_CALL = "_call_impl"
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_NUMBERED = re.compile(r"\._modules\['(\d+)'\]")
# Of one list or dictionary among the arguments.
_ELEMENTS = 8
# What two tensors are: a name, and where it lies.
_Placed = tuple[str, str]


def mismatched_devices(look: Look) -> Iterator[_native.Holder]:
    """One holder for the failed cell, until another cell runs than a question to xleak."""
    error, failed = sys.__dict__.get("last_value"), look.failed_cell
    if failed is None or not _is_mismatch(error):
        return
    if not all(_QUESTION.match(look.sources[it]) for it in look.sources if it > failed):
        return
    frames = list(frames_of_last())
    # The innermost that has several devices is the one that could not go on.
    for frame in reversed(frames):
        told = _of_call(frame, look) or _of_line(frame, look)
        if told is not None:
            label, places = told
            yield _native.Holder("several devices", label, 0, failed, places, 1, "")
            return


def _is_mismatch(error: object) -> bool:
    if type(error) is not RuntimeError:
        return False
    args: Any = BaseException.args
    text = next(iter(args.__get__(error)), "")
    return type(text) is str and _FAILED.search(text) is not None


def _of_call(frame: FrameType, look: Look) -> tuple[str, str] | None:
    """(module, what lies where) of the call of a module; None where all lies on one device."""
    code = frame.f_code
    if code.co_name != _CALL or not code.co_filename.endswith(_MODULE_FILE):
        return None
    names = locals_of(frame)
    module = names.get("self")
    if not is_module(module):
        return None
    inputs = [it for name, value in _arguments(names) for it in _placed(name, value)]
    weights = dict.fromkeys(
        device_of(it)
        for part in parts_of(module)
        for it in entries_of(part, "_parameters").values()
        if is_tensor(it)
    )
    placed = [("its Parameters", device) for device in weights if device != UNKNOWN]
    placed += inputs
    if not _differ(placed):
        # What forward computes with may be an attribute: a plain tensor, or a buffer.
        placed += _attributes(module)
    return (_name_of(module, look), _sentence(placed)) if _differ(placed) else None


def _of_line(frame: FrameType, look: Look) -> tuple[str, str] | None:
    """The same of the names in a line of a cell."""
    if frame.f_globals is not look.watcher.shell.user_ns:
        return None
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    known = _native.entries_of(frame.f_globals) | locals_of(frame)
    words = dict.fromkeys(_WORD.findall(line))
    placed = [it for name in words if name in known for it in _placed(name, known[name])]
    return (f"line {frame.f_lineno}", _sentence(placed)) if _differ(placed) else None


def _differ(placed: list[_Placed]) -> bool:
    return len({device for _, device in placed}) > 1


def _arguments(names: dict[str, Any]) -> Iterator[tuple[str, object]]:
    args, kwargs = names.get("args"), names.get("kwargs")
    if type(args) is tuple:
        yield from ((f"input {number}", it) for number, it in enumerate(args, 1))
    if type(kwargs) is dict:
        yield from ((name, it) for name, it in _native.items_of(kwargs) if type(name) is str)


def _placed(name: str, value: Any) -> Iterator[_Placed]:
    """The tensors that a value is, or has in a built-in container. Those without a dimension mix
    with any device."""
    if is_tensor(value):
        if has_dimensions(value):
            yield name, device_of(value)
    elif _native.is_exactly(value, (list, tuple)):
        for index, it in enumerate(_native.values_of(value, 0, _ELEMENTS)):
            if is_tensor(it):
                yield from _placed(f"{name}[{index}]", it)
    elif type(value) is dict:
        for key, it in _native.items_of(value, 0, _ELEMENTS):
            if type(key) is str and is_tensor(it):
                yield from _placed(f"{name}['{key}']", it)


def _attributes(module: Any) -> list[_Placed]:
    entries = [*fields_of(module).items(), *entries_of(module, "_buffers").items()]
    return [it for name, value in entries if type(name) is str for it in _placed(f".{name}", value)]


def _sentence(placed: list[_Placed]) -> str:
    """By device, in the order of the places."""
    by_device: dict[str, list[str]] = {}
    for name, device in placed:
        by_device.setdefault(device, []).append(name)
    return "; ".join(f"{', '.join(names)} on {device}" for device, names in by_device.items())


def _name_of(module: Any, look: Look) -> str:
    # In torch.nn.Sequential, by number.
    way = _NUMBERED.sub(r"[\1]", as_written(look.heap.way_to(module)))
    return way if is_the_users(way) else _native.type_name(module)
