"""What other processes hold of the devices that torch uses, by NVIDIA's NVML where it is installed."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from xleak.shell.readings import DeviceReading, device_readings

_DISTRIBUTION = "nvidia-ml-py"
# Linux gives its first namespace of processes this number (PROC_PID_INIT_INO).
_FIRST_NAMESPACE = 0xEFFFFFFC


def held_by_others() -> dict[str, int | None]:
    """Bytes of each CUDA device in use that other processes hold; None is unknown.

    Wakes no device and never raises. Takes milliseconds: for when it is asked.
    """
    cuda = [reading for reading in device_readings() if reading.device.startswith("cuda:")]
    held: dict[str, int | None] = dict.fromkeys((reading.device for reading in cuda), None)
    if not cuda:
        return held
    try:
        with _nvml() as nvml:
            for reading in cuda:
                held[reading.device] = _held_by_others(nvml, reading)
    except Exception:
        pass  # No package, no driver, or one that does not tell.
    return held


@contextmanager
def _nvml() -> Iterator[Any]:
    # A user's own file of that name is not it.
    metadata.version(_DISTRIBUTION)
    nvml = importlib.import_module("pynvml")
    # Counted: what the user has initialised stays so.
    nvml.nvmlInit()
    try:
        yield nvml
    finally:
        nvml.nvmlShutdown()


def _held_by_others(nvml: Any, reading: DeviceReading) -> int | None:
    try:
        card = nvml.nvmlDeviceGetHandleByUUID(_uuid(reading.device))
        ours = _ours(nvml.nvmlDeviceGetComputeRunningProcesses(card))
        # The second version leaves out what the driver keeps for itself.
        used: int = nvml.nvmlDeviceGetMemoryInfo(card, version=nvml.nvmlMemory_v2).used
    except Exception:
        return None
    # Less than torch itself has there: another process has our number.
    if ours is None or reading.reserved is None or ours < reading.reserved:
        return None
    return max(0, used - ours)


def _uuid(device: str) -> str:
    """NVML counts all cards and torch those that CUDA_VISIBLE_DEVICES leaves, in CUDA's order."""
    index = int(device.removeprefix("cuda:"))
    return f"GPU-{sys.modules['torch.cuda'].get_device_properties(index).uuid}"


def _ours(processes: list[Any]) -> int | None:
    """What this process holds; None where that cannot be told."""
    # In a container the numbers may be those outside of it, where another process has ours.
    if os.stat("/proc/self/ns/pid").st_ino != _FIRST_NAMESPACE:
        return None
    return next((it.usedGpuMemory for it in processes if it.pid == os.getpid()), None)
