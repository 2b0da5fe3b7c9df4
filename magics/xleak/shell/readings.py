"""What the interpreter and torch can tell of memory, read around every cell."""

from __future__ import annotations

import sys
import time
from typing import Any

# (device, allocated, reserved, high-water mark), bytes. See torch.cuda.memory_stats.
DeviceReading = tuple[str, int | None, int | None, int | None]

# Accelerators whose module in torch offers memory_allocated() and its kin.
_BACKENDS = ("cuda", "xpu")


# CPython counts its blocks by a walk over all pools: 10 µs in a fresh process, 200 µs with a million
# objects. A dear walk is asked for only where it is a hundredth of the time since the last one.
_DEAR_SECONDS = 30e-6
_WALKS_APART = 100


class BlockCount:
    """``sys.getallocatedblocks()`` within a budget."""

    def __init__(self) -> None:
        self._cost = 0.0
        self._last = 0.0

    def read(self) -> int | None:
        """Blocks of Python's allocator in use; None where counting would cost the cell too much."""
        start = time.perf_counter()
        if self._cost > _DEAR_SECONDS and start - self._last < _WALKS_APART * self._cost:
            return None
        blocks = sys.getallocatedblocks()
        self._last = time.perf_counter()
        self._cost = self._last - start
        return blocks


python_blocks = BlockCount().read


def device_readings() -> list[DeviceReading]:
    """One row per device that torch already uses. Imports and initialises nothing; never raises."""
    readings: list[DeviceReading] = []
    if "torch" not in sys.modules:
        return readings
    for name in _BACKENDS:
        backend = sys.modules.get(f"torch.{name}")
        if backend is None:
            continue
        try:
            if backend.is_initialized():
                readings += [
                    _reading(backend, f"{name}:{i}", i) for i in range(backend.device_count())
                ]
        except Exception:
            continue
    return readings


def _reading(backend: Any, device: str, index: int) -> DeviceReading:
    return (
        device,
        backend.memory_allocated(index),
        backend.memory_reserved(index),
        backend.max_memory_allocated(index),
    )
