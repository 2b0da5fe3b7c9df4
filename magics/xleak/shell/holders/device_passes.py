"""What the smells of devices need beside the counters of their allocators: weights, and what a pass
asked for in vain."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.fields import fields_of, loaded_class
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.look import Look
from xleak.shell.holders.weights import weight_versions
from xleak.shell.tracebacks import frames_of_last

_CUDA = "cuda:"
# Half of a device is where the next large cell no longer fits beside it.
_HIGH = 0.5
# What trains on a device and is asked for is among the latest.
_LATEST = 50
_ASKED = re.compile(r"Tried to allocate ([\d.]+) (bytes|KiB|MiB|GiB)\. GPU (\d+)")
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_PASSES = {
    ("torch/nn/modules/module.py", "_call_impl"): "forward pass",
    ("torch/autograd/graph.py", "_engine_run_backward"): "backward pass",
    ("torch/autograd/__init__.py", "backward"): "backward pass",
}


class DevicePasses:
    """Told while torch has devices in use."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def after_cell(self, index: int) -> bool:
        """Whether the cell came to more than half of a device."""
        peaks = [(it.allocated_peak_bytes, it.total_bytes) for it in _devices(index)]
        return any(peak and total and peak >= _HIGH * total for peak, total in peaks)

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for the weights on each device, and the cell that last trained there; one for a
        pass that ran out of memory."""
        names = [it.device for it in _devices(look.cell) if it.device.startswith(_CUDA)]
        for device in names:
            held = _weights_on(device, look)
            cell = next((it for it in self._trained() if _was_used(it, device)), None)
            yield _native.Holder("weights", f"weights on {device}", held, cell, device, 1, "")
        if names and look.failed_cell is not None:
            yield from _failed_pass(look.failed_cell)

    def _trained(self) -> list[int]:
        """The cells that recorded graphs, latest first."""
        return self._counts.recorded[: -_LATEST - 1 : -1]


def _devices(cell: int) -> list[_native.DeviceUse]:
    if "torch.cuda" not in sys.modules:
        return []
    record = _native.record(cell)
    return [] if record is None else record.devices


def _was_used(cell: int, device: str) -> bool:
    return any(it.device == device and it.allocated_peak_bytes for it in _devices(cell))


def _weights_on(device: str, look: Look) -> int:
    """Bytes of the live parameters there; 0 where xleak has no module for this torch."""
    _torch: Any = sys.modules.get("xleak._torch")
    if _torch is None:
        return 0
    weights = {id(it) for it, _ in weight_versions(look.live)}
    rows = [row for row in _torch.census() if row.storage.device == device]
    return sum(row.storage.bytes for row in rows if not weights.isdisjoint(row.tensors))


def _failed_pass(cell: int) -> Iterator[_native.Holder]:
    error = sys.__dict__.get("last_value")
    base = loaded_class("torch", "OutOfMemoryError") or loaded_class(
        "torch.cuda", "OutOfMemoryError"
    )
    if base is None or type(error) is not base:
        return
    args: Any = BaseException.args
    text = next(iter(args.__get__(error)), "")
    asked = _ASKED.search(text) if type(text) is str else None
    what = next((it for frame in frames_of_last() if (it := _pass_of(frame.f_code))), None)
    if asked is None or what is None:
        return
    size = int(float(asked[1]) * _UNITS[asked[2]])
    device = f"{_CUDA}{asked[3]}"
    label = f"{what} of {name_of_run(cell)}"
    yield _native.Holder("out of memory in a pass", label, size, cell, device, 1, "")


def _pass_of(code: CodeType) -> str | None:
    for (end, name), what in _PASSES.items():
        if code.co_name == name and code.co_filename.endswith(end):
            return what
    return None


def parallels(look: Look) -> Iterator[_native.Holder]:
    """The modules that torch.nn.DataParallel spreads over several devices, by the device that its
    outputs are gathered on."""
    base = loaded_class("torch.nn.parallel.data_parallel", "DataParallel")
    for it in look.live.instances(base) if base is not None else []:
        fields = fields_of(it)
        ids, output = fields.get("device_ids"), fields.get("output_device")
        if type(ids) is list and list.__len__(ids) > 1 and type(output) is int:
            label = look.heap.way_to(it) or "torch.nn.DataParallel"
            device = f"{_CUDA}{output}"
            yield _native.Holder("data parallel", label, 0, None, device, len(ids), "")
