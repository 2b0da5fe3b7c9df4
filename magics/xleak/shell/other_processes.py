"""What other processes hold of the devices that torch uses, by NVIDIA's NVML where it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from xleak import _native
from xleak.originals import os
from xleak.shell.readings import DeviceReading, device_readings

_DISTRIBUTION = "nvidia-ml-py"
# Linux gives its first namespace of processes this number (PROC_PID_INIT_INO).
_FIRST_NAMESPACE = 0xEFFFFFFC


Answer = TypeVar("Answer")


class OtherProcess(NamedTuple):
    """Who else uses a device. name: None is another user's; bytes: None is unknown."""

    pid: int
    name: str | None
    bytes: int | None


def held_by_others() -> dict[str, int | None]:
    """Bytes of each CUDA device in use that other processes hold; None is unknown.

    Wakes no device and never raises. Takes milliseconds: for when it is asked.
    """
    return _of_each_card(_held_by_others)


def others_by_process() -> dict[str, list[OtherProcess] | None]:
    """The others on each CUDA device in use, most bytes first; None is unknown. As held_by_others."""
    return _of_each_card(_other_processes)


def utilisation() -> dict[str, int | None]:
    """Per cent of the last second or less in which each CUDA device in use computed, whoever for;
    None is unknown. As held_by_others."""
    return _of_each_card(_utilisation)


def _of_each_card(ask: Callable[[Any, DeviceReading], Answer | None]) -> dict[str, Answer | None]:
    cuda = [reading for reading in device_readings() if reading.device.startswith("cuda:")]
    told: dict[str, Answer | None] = dict.fromkeys((reading.device for reading in cuda), None)
    if not cuda:
        return told
    try:
        with nvml() as library:
            for reading in cuda:
                told[reading.device] = ask(library, reading)
    except Exception:
        pass  # No package, no driver, or one that does not tell.
    return told


@contextmanager
def nvml() -> Iterator[Any]:
    """NVIDIA's library, for as long as the block lasts. Raises where it is not there."""
    # It imports the parsers of e-mail and zip files.
    from importlib import metadata

    # A user's own file of that name is not it.
    metadata.version(_DISTRIBUTION)
    library = importlib.import_module("pynvml")
    # Counted: what the user has initialised stays so.
    library.nvmlInit()
    try:
        yield library
    finally:
        library.nvmlShutdown()


def _held_by_others(nvml: Any, reading: DeviceReading) -> int | None:
    try:
        card = nvml.nvmlDeviceGetHandleByUUID(_uuid(reading.device))
        ours = _ours(nvml.nvmlDeviceGetComputeRunningProcesses(card), reading)
        # The second version leaves out what the driver keeps for itself.
        used: int = nvml.nvmlDeviceGetMemoryInfo(card, version=nvml.nvmlMemory_v2).used
    except Exception:
        return None
    return None if ours is None else max(0, used - ours)


def _utilisation(nvml: Any, reading: DeviceReading) -> int | None:
    card = nvml.nvmlDeviceGetHandleByUUID(_uuid(reading.device))
    return int(nvml.nvmlDeviceGetUtilizationRates(card).gpu)


def _other_processes(nvml: Any, reading: DeviceReading) -> list[OtherProcess] | None:
    try:
        card = nvml.nvmlDeviceGetHandleByUUID(_uuid(reading.device))
        processes = nvml.nvmlDeviceGetComputeRunningProcesses(card)
    except Exception:
        return None
    if _ours(processes, reading) is None:
        return None
    others = [
        OtherProcess(it.pid, _name_of(it.pid), it.usedGpuMemory)
        for it in processes
        if it.pid != os.getpid()
    ]
    return sorted(others, key=lambda it: it.bytes or 0, reverse=True)


def _name_of(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return None


def _uuid(device: str) -> str:
    """NVML counts all cards and torch those that CUDA_VISIBLE_DEVICES leaves, in CUDA's order."""
    index = int(device.removeprefix("cuda:"))
    ask = _native.fields_of_module("torch.cuda")["get_device_properties"]
    return f"GPU-{ask(index).uuid}"


def _ours(processes: list[Any], reading: DeviceReading) -> int | None:
    """What this process holds; None where that cannot be told."""
    # In a container the numbers may be those outside of it, where another process has ours.
    if os.stat("/proc/self/ns/pid").st_ino != _FIRST_NAMESPACE:
        return None
    ours: int | None = next((it.usedGpuMemory for it in processes if it.pid == os.getpid()), None)
    # Less than torch itself has there: another process has our number.
    if ours is None or reading.reserved is None or ours < reading.reserved:
        return None
    return ours
