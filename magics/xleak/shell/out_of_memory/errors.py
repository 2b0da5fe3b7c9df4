"""Errors that say that memory ran out, and what their texts tell. No code of the user's runs."""

from __future__ import annotations

import dis
import errno
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from xleak import _native
from xleak.shell.fields import fields_of, is_instance, loaded_class

HOST = "host"

# More of a text is not an allocator's.
_TEXT_LENGTH = 4000
_SIZE = r"([\d.]+) ?(bytes|B|[KMGT]i?B)\b"
# c10/cuda/CUDACachingAllocator.cpp, c10/xpu/XPUCachingAllocator.cpp and aten/src/ATen/mps/MPSAllocator.mm
# of torch 1.13 to 2.13.
_DEVICE = re.compile(r"\b(CUDA|HIP|XPU|MPS)(?: backend| error:)? out of memory\b")
_INDEX = re.compile(r"\bGPU (\d+)[ ;]")
_ASKED = re.compile(rf"Tried to allocate {_SIZE}")
_FREE = re.compile(rf"of which {_SIZE} is free|{_SIZE} free;")
_TOTAL = re.compile(
    rf"total capacity of {_SIZE}|{_SIZE} total capacity|max allowed: {_SIZE}",
)
_ALLOCATED = re.compile(rf"{_SIZE} is allocated by PyTorch|{_SIZE} already allocated")
_CACHED = re.compile(rf"{_SIZE} is reserved by PyTorch but unallocated")
# Metal's "allocated" are its heaps, of which tensors have a part.
_RESERVED = re.compile(rf"{_SIZE} reserved in total by PyTorch|MPS allocated: {_SIZE}")
_BESIDE_METAL = re.compile(rf"other allocations: {_SIZE}")
_TOO_LARGE_FOR_METAL = re.compile(rf"^Invalid buffer size: {_SIZE}")
# c10/core/impl/alloc_cpu.cpp.
_ON_CPU = re.compile(r"DefaultCPUAllocator: .*you tried to allocate (\d+) bytes", re.DOTALL)
# tensorflow/core/framework/op_kernel.cc.
_OF_TENSORFLOW = re.compile(
    r"OOM when allocating tensor with shape\[([\d,]*)\] and type (\w+) on \S*?device:(\w+:\d+)"
)
_TENSORFLOW_BYTES = {
    **dict.fromkeys(["bool", "int8", "uint8"], 1),
    **dict.fromkeys(["half", "bfloat16", "int16", "uint16"], 2),
    **dict.fromkeys(["float", "int32", "uint32"], 4),
    **dict.fromkeys(["double", "int64", "uint64", "complex64"], 8),
    "complex128": 16,
}
# torch/_utils.py, ExceptionWrapper: an error that cannot be made of a text comes as a RuntimeError.
_WORKER = re.compile(r"Caught (\w+) in DataLoader worker process \d+\.")
# numpy/_core/_exceptions.py, _ArrayMemoryError.
_OF_NUMPY = re.compile(rf"Unable to allocate {_SIZE} for an array")
# cpp/src/arrow/memory_pool.cc.
_OF_ARROW = re.compile(r"(?:malloc|realloc) of size (\d+) failed")

_DEVICE_NAMES = {"CUDA": "cuda", "HIP": "cuda", "XPU": "xpu", "MPS": "mps"}
_RAISE = dis.opmap["RAISE_VARARGS"]
_FLAGS: Any = type.__dict__["__flags__"]
# Py_TPFLAGS_HEAPTYPE: the type is not one of Python's own.
_IS_MADE_AT_RUN_TIME = 1 << 9


@dataclass(frozen=True)
class Refusal:
    """What an allocator could not give; sizes in bytes, as far as the error tells them.

    allocator: "host", a device such as "cuda:0", or "cuda" where the text does not number it.
    """

    allocator: str
    asked: int | None = None
    free: int | None = None
    allocated: int | None = None
    reserved: int | None = None
    total: int | None = None
    by_guard: bool = False
    """Nothing was refused yet: xleak's guard stopped the cell."""
    in_worker: bool = False
    """It was refused to a worker process of a DataLoader."""


def refusal_of(error: BaseException, namespace: dict[str, Any]) -> Refusal | None:
    """Why a cell failed, where memory ran out; errors that an OOM is the stated cause of count too.

    namespace: the user's. Where code in it raised a bare error by hand, nobody refused anything.
    """
    for each in _causes(error):
        refusal = _by_text(each) or _by_type(each)
        if refusal is not None:
            if any(map(_WORKER.match, _texts(each))):
                return replace(refusal, in_worker=True)
            by_hand = refusal == Refusal(HOST) and _was_raised_in(each, namespace)
            return None if by_hand else refusal
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: Any = BaseException.__cause__
    seen: list[BaseException] = []
    while error is not None and all(error is not one for one in seen):
        seen.append(error)
        yield error
        error = cause.__get__(error)


def _texts(error: BaseException) -> list[str]:
    arguments: Any = BaseException.args
    told: list[Any] = [*arguments.__get__(error)]
    if is_instance(error, "tensorflow.python.framework.errors_impl", "OpError"):
        told.append(fields_of(error).get("_message"))
    return [text[:_TEXT_LENGTH] for text in told if type(text) is str]


def _by_text(error: BaseException) -> Refusal | None:
    kind = type(error)
    if kind is not RuntimeError and not _is_of_a_framework(error):
        return None
    for text in _texts(error):
        if found := _DEVICE.search(text):
            return _of_device(text, _DEVICE_NAMES[found[1]])
        if _TOO_LARGE_FOR_METAL.search(text):
            return Refusal("mps:0", _size(_TOO_LARGE_FOR_METAL, text))
        if found := _ON_CPU.search(text):
            return Refusal(HOST, int(found[1]))
        if found := _OF_TENSORFLOW.search(text):
            return _of_tensorflow(*found.groups())
        if (found := _WORKER.match(text)) and found[1].endswith("MemoryError"):
            return Refusal(HOST, _size(_OF_NUMPY, text))
        if found := _OF_ARROW.search(text):
            return Refusal(HOST, int(found[1]))
    return None


def _is_of_a_framework(error: BaseException) -> bool:
    if not _FLAGS.__get__(type(error)) & _IS_MADE_AT_RUN_TIME:
        return False
    return any(
        is_instance(error, module, name)
        for module, name in (
            ("torch", "OutOfMemoryError"),
            ("torch.cuda", "OutOfMemoryError"),
            ("torch", "AcceleratorError"),
            ("tensorflow.python.framework.errors_impl", "ResourceExhaustedError"),
            ("pyarrow.lib", "ArrowMemoryError"),
        )
    )


def _of_device(text: str, name: str) -> Refusal:
    index = _INDEX.search(text)
    # Metal has one device, which torch numbers so.
    number = index[1] if index else "0" if name == "mps" else None
    allocated, cached = _size(_ALLOCATED, text), _size(_CACHED, text)
    reserved = _size(_RESERVED, text)
    if reserved is None and allocated is not None and cached is not None:
        reserved = allocated + cached
    free, total, beside = (_size(it, text) for it in (_FREE, _TOTAL, _BESIDE_METAL))
    if free is None and total is not None and reserved is not None and beside is not None:
        free = max(0, total - reserved - beside)
    return Refusal(
        name if number is None else f"{name}:{number}",
        _size(_ASKED, text),
        free,
        allocated,
        reserved,
        total,
    )


def _size(pattern: re.Pattern[str], text: str) -> int | None:
    """The frameworks count in powers of 1024, however they write the unit."""
    found = pattern.search(text)
    if found is None:
        return None
    number, unit = (group for group in found.groups() if group is not None)
    try:
        return int(float(number) * 1024 ** "BKMGT".index(unit[0].upper()))
    except ValueError:
        return None


def _of_tensorflow(shape: str, kind: str, device: str) -> Refusal:
    of_one = _TENSORFLOW_BYTES.get(kind)
    sizes = [int(size) for size in shape.split(",") if size]
    asked = None if of_one is None else of_one * math.prod(sizes)
    return Refusal(HOST if device.startswith("CPU") else device, asked)


def _by_type(error: BaseException) -> Refusal | None:
    kind = type(error)
    if is_instance(error, "torch", "OutOfMemoryError"):
        return Refusal("an accelerator")
    if kind is MemoryError:
        return Refusal(HOST)
    if kind is OSError:
        number: Any = OSError.errno
        return Refusal(HOST) if number.__get__(error) == errno.ENOMEM else None
    if _native.is_kind_of(error, MemoryError):
        is_guards = is_instance(error, "xleak.shell.guard", "MemoryGuardError")
        return Refusal(HOST, by_guard=True) if is_guards else _of_numpy(error)
    return None


def _of_numpy(error: BaseException) -> Refusal | None:
    """numpy's error has the shape and the dtype; None for another one's, whose memory is unknown."""
    for module in ("numpy._core._exceptions", "numpy.core._exceptions"):
        if is_instance(error, module, "_ArrayMemoryError"):
            break
    else:
        return None
    arguments: Any = BaseException.args
    its = arguments.__get__(error)
    dtype = loaded_class("numpy", "dtype")
    if len(its) != 2 or type(its[0]) is not tuple or not _native.is_kind_of(its[1], dtype):
        return Refusal(HOST)
    shape, of_one = its[0], dtype.itemsize.__get__(its[1])
    if any(type(side) is not int for side in shape):
        return Refusal(HOST)
    return replace(Refusal(HOST), asked=math.prod(shape) * of_one)


def _was_raised_in(error: BaseException, namespace: dict[str, Any]) -> bool:
    """Whether a `raise` of the user's own code made it, not an allocation."""
    frames: Any = BaseException.__traceback__
    at: TracebackType | None = frames.__get__(error)
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None:
        return True
    frame = at.tb_frame
    return frame.f_globals is namespace and frame.f_code.co_code[at.tb_lasti] == _RAISE
