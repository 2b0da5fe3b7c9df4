"""Bytes in use, asked of the allocators themselves."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from xleak.shell.counters import read_counters

_MALLINFO = (
    *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
    *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
)


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _MALLINFO]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Mallinfo


def malloc_bytes() -> int:
    info = libc.mallinfo2()
    return int(info.uordblks + info.hblkhd)


def pymalloc_bytes() -> int:
    return read_counters()["pymalloc"]


def arrow_bytes() -> int:
    import pyarrow

    return int(pyarrow.total_allocated_bytes())


def counter_of(value: str) -> Callable[[], int]:
    if "strings" in value and "frame" in value:
        return arrow_bytes
    return pymalloc_bytes if "strings" in value or "dict of lists" in value else malloc_bytes
