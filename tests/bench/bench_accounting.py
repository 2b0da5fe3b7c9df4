"""What the accounting itself costs a cell in a large process."""

import gc
import mmap
import time

from claims import Claim, Measurement

WARM_UP = 50
ROUNDS = 500
LIVE_OBJECTS = 1_000_000
MAPPED_BYTES = 10 << 30


def bracket() -> float:
    """Microseconds that opening and closing the record of one empty cell take."""
    from xleak import _native
    from xleak.shell.readings import python_count

    begun = time.perf_counter()
    index = _native.begin_cell("cell", 1, [])
    python_count.begin_cell()
    python = python_count.end_cell()
    _native.end_cell(index, "ok", 1, python.blocks, [], None, python.bytes)
    return (time.perf_counter() - begun) * 1e6


def measure() -> list[Measurement]:
    objects: list[list[object]] = [[] for _ in range(LIVE_OBJECTS)]
    mapped = mmap.mmap(-1, MAPPED_BYTES, prot=mmap.PROT_READ)
    gc.freeze()
    try:
        samples = [bracket() for _ in range(WARM_UP + ROUNDS)][WARM_UP:]
    finally:
        gc.unfreeze()
        mapped.close()
        objects.clear()
    what = "accounting of a cell, 1,000,000 live objects, 10 GiB mapped"
    return [Measurement(what, "µs", {"xleak": samples}, [Claim("xleak", None, 100.0)])]
