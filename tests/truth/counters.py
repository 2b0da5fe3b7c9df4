"""How much memory a process holds, by the counters of its allocators, to the byte where they have some.

A child that is to be measured is started in `environment()`, and calls `prepare()` first. Then every block
of malloc lies in the one heap that its counter covers, CPython's arenas too, whose blocks in use CPython
counts. What is mapped beside that (polars' allocator, a program's own mmap) counts by what is resident.
"""

import ctypes
import gc
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ARENA = 1 << 20
_PR_SET_THP_DISABLE = 41
_IN_USE = re.compile(r"# bytes in allocated blocks += +([\d,]+)")
_ARENAS = re.compile(r"# arenas allocated total += +([\d,]+)")
_MAP = re.compile(r"^[0-9a-f]+-[0-9a-f]+ (?P<mode>\S+) \S+ \S+ \d+ *(?P<name>.*)$")
_SHARED = ("/dev/zero", "/dev/shm/", "/memfd:", "/SYSV")


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


class _ArenaAllocator(ctypes.Structure):
    _fields_ = [
        ("context", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]


_libc = ctypes.CDLL(None)
_libc.mallinfo2.restype = _Mallinfo2
_arenas_before = 0


def environment() -> dict[str, str]:
    """What must be set before the process starts."""
    return {
        # No block of malloc in a map of its own or in a thread's heap: the maps that are left are others'.
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_ARENA_MAX": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        # polars' allocator gives pages back as soon as nothing is in them, and keeps none for each thread.
        "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0,tcache:false,narenas:1",
        "MIMALLOC_PURGE_DELAY": "0",
    }


def prepare() -> None:
    """Puts CPython's arenas into malloc's heap, and keeps the system from rounding maps up to 2 MiB."""
    global _arenas_before
    _libc.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)
    _arenas_before = _pymalloc()[1]
    # memalign(alignment, size) is called as allocate(context, size). An arena is never given back, so that
    # all that were ever made are in malloc's counter: labs() frees nothing.
    allocator = _ArenaAllocator(ARENA, _address("memalign"), _address("labs"))
    ctypes.pythonapi.PyObject_SetArenaAllocator(ctypes.byref(allocator))


@dataclass(frozen=True)
class Held:
    """Bytes in use, by who counts them."""

    malloc: int
    python: int
    mapped: int

    @property
    def total(self) -> int:
        return self.malloc + self.python + self.mapped

    def __sub__(self, other: "Held") -> "Held":
        return Held(
            self.malloc - other.malloc, self.python - other.python, self.mapped - other.mapped
        )

    def __str__(self) -> str:
        parts = f"malloc {self.malloc:,}, Python {self.python:,}, mapped {self.mapped:,}"
        return f"{self.total:,} bytes ({parts})"


def held(folder: Path) -> Held:
    """What the process holds now. Maps of files in the folder count too, those of libraries do not."""
    gc.collect()
    gc.collect()
    in_use, arenas = _pymalloc()
    info = _libc.mallinfo2()
    in_heap = (arenas - _arenas_before) * ARENA
    return Held(info.uordblks + info.hblkhd - in_heap, in_use, _mapped(folder))


def _pymalloc() -> tuple[int, int]:
    """Bytes in use, and the number of arenas ever made."""
    with tempfile.TemporaryFile() as report:
        stderr = os.dup(2)
        os.dup2(report.fileno(), 2)
        try:
            sys._debugmallocstats()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        report.seek(0)
        text = report.read().decode()
    return _number(_IN_USE, text), _number(_ARENAS, text)


def _number(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    assert found, f"sys._debugmallocstats() no longer says {pattern.pattern}"
    return int(found[1].replace(",", ""))


def _address(name: str) -> int:
    address = ctypes.cast(getattr(_libc, name), ctypes.c_void_p).value
    assert address
    return address


def _mapped(folder: Path) -> int:
    total, counts, is_shared = 0, False, False
    with open("/proc/self/smaps", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if found := _MAP.match(line):
                name = found["name"]
                is_shared = name.startswith((*_SHARED, f"{folder}/"))
                counts = is_shared or (not name and found["mode"].endswith("p"))
            elif counts and line.startswith("Rss:" if is_shared else "Anonymous:"):
                total += int(line.split()[1]) * 1024
    return total
