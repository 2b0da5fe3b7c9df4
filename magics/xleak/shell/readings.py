"""What the interpreter and torch can tell of memory, read around every cell."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from xleak import _native
from xleak.originals import getallocatedblocks, time
from xleak.shell.tensorflow_memory import tensorflow_gpus


class DeviceReading(NamedTuple):
    """What the allocator of one device says, in bytes. See torch.cuda.memory_stats."""

    device: str
    allocated: int | None
    reserved: int | None
    peak: int | None
    inactive_split: int | None
    handed_out: int | None
    cell_peak: int | None = None
    """The most that was live at once during the cell that ended, where that was followed."""
    total: int | None = None
    """All that the framework can have there."""


# Accelerators whose module in torch offers memory_stats().
_BACKENDS = {"cuda": "torch.cuda", "xpu": "torch.xpu"}


# CPython counts blocks, and the bytes in them, by walks over the headers of its pools: 10 µs in a fresh process,
# 100 µs with torch and scikit-learn, 0.5 ms with this much. Beyond it only cells that changed a large block are
# counted. It goes by bytes, not by seconds: what a cell kept does not depend on how fast the machine is.
_LARGE_HEAP = 512 << 20


class PythonUse(NamedTuple):
    """What is in use of Python's allocator; None where it was not counted."""

    blocks: int | None
    bytes: int | None


NOT_COUNTED = PythonUse(None, None)


class PythonCount:
    """What Python's allocator has in use after each cell, where counting adds little to it."""

    def __init__(self) -> None:
        self.began = 0.0
        """When the cell began, by time.perf_counter()."""
        self._arenas: int | None = None
        """What Python's pools had of the system at the last count, in bytes; None before the first."""
        self._large = (0, 0)
        """Bytes of the large blocks of the heap, and of maps, at the last count. Pools come in maps."""
        self._excludes = False

    def before_first_cell(self) -> PythonUse:
        """Counts once in a process; later the cell before has been counted."""
        return self._count() if self._arenas is None else NOT_COUNTED

    def begin_cell(self) -> None:
        """Notes the time."""
        self.began = time.perf_counter()

    def end_cell(self) -> PythonUse:
        """Counts."""
        is_large = self._arenas is not None and self._arenas > _LARGE_HEAP
        if is_large and _native.ledger_state().installed and _large_blocks() == self._large:
            return NOT_COUNTED
        return self._count()

    @contextlib.contextmanager
    def excluding(self) -> Iterator[None]:
        """What runs within is xleak's own, which lives on in its modules and notes: no cell kept that."""
        if self._excludes:
            yield
            return
        before = self._count()
        self._excludes = True
        try:
            yield
        finally:
            self._excludes = False
            after = self._count()
            grown = [
                now - then if now and then else 0 for now, then in zip(after, before, strict=True)
            ]
            _native.exclude_python_use(*grown)

    def _count(self) -> PythonUse:
        blocks, pools = getallocatedblocks(), _native.python_pools()
        self._arenas, self._large = pools[1] if pools else 0, _large_blocks()
        # Without pools of its own CPython has no statistics of them.
        return PythonUse(blocks, pools[0] if pools else None if blocks else 0)


def _large_blocks() -> tuple[int, int]:
    sums = _native.block_sums()
    return sums.alive_bytes, sums.mapped_bytes


python_count = PythonCount()


def begin_device_cell(index: int) -> None:
    """Follows devices for a cell, where xleak's module for torch can; never raises."""
    module = sys.modules.get("xleak._torch")
    try:
        if module is not None:
            module.begin_device_cell(index)
    except Exception:
        pass  # The cell's peak is what torch's own mark tells.


def end_device_cell(index: int) -> list[DeviceReading]:
    """device_readings() at the end of a cell, with its own peaks; never raises."""
    readings = device_readings()
    module = sys.modules.get("xleak._torch")
    try:
        peaks = dict(module.end_device_cell(index)) if module is not None else {}
    except Exception:
        return readings
    return [reading._replace(cell_peak=peaks.get(reading.device)) for reading in readings]


def device_readings() -> list[DeviceReading]:
    """One row per device that torch or TensorFlow already uses. Imports and initialises nothing; never
    raises."""
    # Every cell waits for this twice.
    if "torch" not in sys.modules and "tensorflow" not in sys.modules:
        return []
    readings = [it._replace(total=_total(it.device)) for it in _torch_readings()]
    return readings + [
        DeviceReading(it.device, it.current, None, it.peak, None, None, None, it.limit)
        for it in tensorflow_gpus()
    ]


def _torch_readings() -> list[DeviceReading]:
    module = sys.modules.get("xleak._torch")
    try:
        if module is not None and module.has_device_stats():
            return [_by_module(row) for row in module.device_stats()]
    except Exception:
        pass  # What torch itself tells is still there.
    readings: list[DeviceReading] = []
    for name, module_name in _BACKENDS.items():
        backend = _native.fields_of_module(module_name)
        if not backend:
            continue
        try:
            if backend["is_initialized"]():
                devices, stats = range(backend["device_count"]()), backend["memory_stats"]
                readings += [_by_torch(f"{name}:{i}", stats(i)) for i in devices]
        except Exception:
            continue
    return readings


def _by_module(row: Any) -> DeviceReading:
    return DeviceReading(
        row.device,
        row.allocated_bytes,
        row.reserved_bytes,
        row.allocated_peak_bytes,
        row.inactive_split_bytes,
        row.handed_out_bytes,
    )


def _by_torch(device: str, stats: Mapping[str, int]) -> DeviceReading:
    keys = (
        "allocated_bytes.all.current",
        "reserved_bytes.all.current",
        "allocated_bytes.all.peak",
        "inactive_split_bytes.all.current",
        "allocated_bytes.all.allocated",
    )
    return DeviceReading(device, *(stats.get(key) for key in keys))


def _total(device: str) -> int | None:
    """The memory of a device of CUDA's, or the part of it that the user lets torch have."""
    name, _, index = device.partition(":")
    cuda = _native.fields_of_module("torch.cuda")
    try:
        if name != "cuda" or not cuda or not cuda["is_initialized"]():
            return None
        total = int(cuda["get_device_properties"](int(index)).total_memory)
        fraction = cuda.get("get_per_process_memory_fraction")
        return total if fraction is None else int(total * fraction(int(index)))
    except Exception:
        return None
