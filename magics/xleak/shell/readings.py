"""What the interpreter and torch can tell of memory, read around every cell."""

from __future__ import annotations

import sys
from typing import Any

# (device, allocated, reserved, high-water mark), bytes. See torch.cuda.memory_stats.
DeviceReading = tuple[str, int | None, int | None, int | None]

# Accelerators whose module in torch offers memory_allocated() and its kin.
_BACKENDS = ("cuda", "xpu")


def device_readings() -> list[DeviceReading]:
    """One row per device that torch already uses. Imports and initialises nothing; never raises."""
    readings: list[DeviceReading] = []
    for name in _BACKENDS:
        backend = sys.modules.get(f"torch.{name}")
        if backend is None:
            continue
        try:
            if backend.is_initialized():
                readings += [_reading(backend, f"{name}:{i}", i) for i in range(backend.device_count())]
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
