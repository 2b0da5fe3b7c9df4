"""What each allocator says that it has handed out: memory came back where its number fell."""

from __future__ import annotations

from collections.abc import Callable

from xleak import _native
from xleak.shell.readings import device_readings
from xleak.shell.tensorflow_memory import tensorflow_host_bytes

# The counting itself, and what the interpreter does beside it, moves less than this.
NOISE_BYTES = 16 << 10


def read_counters() -> dict[str, int]:
    """Bytes in use by allocator: malloc, pymalloc, arrow, tensorflow, one per device. Absent is unknown."""
    counters: dict[str, int] = {}
    for owner, read in (
        ("malloc", _malloc),
        ("pymalloc", _pymalloc),
        ("arrow", _arrow),
        ("tensorflow", tensorflow_host_bytes),
    ):
        value = _value(read)
        if value is not None:
            counters[owner] = value
    for reading in device_readings():
        if reading.allocated is not None:
            counters[reading.device] = reading.allocated
    return counters


def returned(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """What came back, by allocator; less than NOISE_BYTES counts as nothing."""
    fell = {owner: before[owner] - after[owner] for owner in before if owner in after}
    return {owner: size for owner, size in fell.items() if size >= NOISE_BYTES}


def _value(read: Callable[[], int | None]) -> int | None:
    try:
        return read()
    except Exception:
        return None


def _malloc() -> int:
    return _native.heap().used_bytes


def _pymalloc() -> int | None:
    pools = _native.python_pools()
    return None if pools is None else pools[0]


def _arrow() -> int | None:
    ask = _native.fields_of_module("pyarrow").get("total_allocated_bytes")
    return None if ask is None else int(ask())
