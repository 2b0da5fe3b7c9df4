"""What Keras does with the devices of TensorFlow: batches that do not fit, and runs that leave more
on a GPU each time."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from types import FrameType, FunctionType
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.shell.fields import fields_of, loaded_class
from xleak.shell.holders.look import Look
from xleak.shell.holders.reruns import identity_of
from xleak.shell.tracebacks import frames_of_last

# The place of batch_size among the arguments.
_PASSES = {"fit": 3, "evaluate": 3, "predict": 2}
_CALLS_PASS = re.compile(r"\.(?:fit|evaluate|predict)\(")
# What Keras takes for arrays where nobody says.
_DEFAULT_BATCH = 32
_FAILED = re.compile(
    r"OOM when allocating tensor with shape\[([\d,]+)\] and type (\w+) on \S*device:(\w+:\d+)"
)
_ITEM_BYTES = {"float": 4, "half": 2, "bfloat16": 2, "double": 8, "int32": 4, "int64": 8, "bool": 1}
# Half of a device is where the next large cell no longer fits beside it.
_HIGH = 0.5
# As many in a row, each by as much.
_RISES = 3
_RISE = 1.05


class KerasPasses:
    """Remembers sizes by cell, no object."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], list[tuple[int, int]]] = {}
        """By device and identity of a cell its runs: (cell, bytes in use after it)."""
        self._has_failed = False

    def after_cell(self, index: int, source: str) -> bool:
        """Whether the cell came to more than half of a GPU, left more there than its last runs, or ran
        what had failed."""
        high = False
        for gpu in _gpus(index):
            peak, total = gpu.allocated_peak_bytes, gpu.total_bytes
            high = high or bool(peak and total and peak >= _HIGH * total)
            if gpu.allocated_bytes is not None:
                runs = self._runs.setdefault((gpu.device, identity_of(index, source)), [])
                runs.append((index, gpu.allocated_bytes))
        tried_again = self._has_failed and bool(_CALLS_PASS.search(source))
        return high or tried_again or any(True for _ in self._rising(index))

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for the pass that failed, one for each GPU, one for each cell whose runs add up."""
        failed = list(_failed_batch(look))
        self._has_failed = bool(failed)
        yield from failed
        gpus = _gpus(look.cell)
        fitted = [cell for cell, text in look.sources.items() if gpus and _CALLS_PASS.search(text)]
        for gpu in gpus if fitted else []:
            label = f"batches on {gpu.device}"
            yield _native.Holder("keras batches", label, 0, max(fitted), gpu.device, 1, "")
        for device, runs in self._rising(look.cell):
            models = _live_models(look)
            if models >= len(runs):
                label = f"{device}, from {name_of_run(runs[0][0])} on"
                sizes = ", ".join(_native.human(size) for _, size in runs)
                rise = runs[-1][1] - runs[0][1]
                yield _native.Holder("runs on a gpu", label, rise, runs[0][0], sizes, models, "")

    def _rising(self, cell: int) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        """(device, the last runs) of cells each of whose runs left more, while it is still there."""
        now = {gpu.device: gpu.allocated_bytes or 0 for gpu in _gpus(cell)}
        for (device, _), runs in self._runs.items():
            last = runs[-_RISES - 1 :]
            rises = [after >= _RISE * before for (_, before), (_, after) in pairwise(last)]
            if len(rises) == _RISES and all(rises) and now.get(device, 0) >= last[-1][1]:
                yield device, last


def _gpus(cell: int) -> list[_native.DeviceUse]:
    """Of TensorFlow's, as it names them."""
    if "tensorflow" not in sys.modules:
        return []
    record = _native.record(cell)
    return [] if record is None else [it for it in record.devices if it.device.startswith("GPU:")]


def _live_models(look: Look) -> int:
    base = loaded_class("keras.src.models.model", "Model")
    return 0 if base is None else len(look.live.instances(base))


def _failed_batch(look: Look) -> Iterator[_native.Holder]:
    """A tensor that did not fit and whose first size is the batch, until such a pass goes through."""
    error = vars(sys).get("last_value")
    base = loaded_class("tensorflow.python.framework.errors_impl", "ResourceExhaustedError")
    if look.failed_cell is None or base is None or type(error) is not base:
        return
    text = fields_of(error).get("_message")
    failed = _FAILED.search(text) if type(text) is str else None
    called = next((it for frame in frames_of_last() if (it := _pass_of(frame))), None)
    if failed is None or called is None:
        return
    name, batch = called
    shape = [int(size) for size in failed[1].split(",")]
    later = [text for cell, text in look.sources.items() if cell > look.failed_cell]
    if batch != shape[0] or any(f".{name}(" in text for text in later):
        return
    size = math.prod(shape) * _ITEM_BYTES.get(failed[2], 1)
    label = f"{name} of {name_of_run(look.failed_cell)}"
    what = f"a tensor of {shape} on {failed[3]}"
    yield _native.Holder(
        "keras batch out of memory", label, size, look.failed_cell, what, batch, ""
    )


def _pass_of(frame: FrameType) -> tuple[str, int] | None:
    """(name, batch size) of the pass that a frame of Keras is, where it tells."""
    code = frame.f_code
    if code.co_name != "error_handler" or not code.co_filename.endswith("traceback_utils.py"):
        return None
    names = frame.f_locals
    function, args, options = names.get("fn"), names.get("args"), names.get("kwargs")
    if type(function) is not FunctionType or type(args) is not tuple or type(options) is not dict:
        return None
    place = _PASSES.get(function.__name__)
    if place is None:
        return None
    batch = options.get("batch_size", args[place] if len(args) > place else None)
    if batch is None and _is_array(options.get("x", args[1] if len(args) > 1 else None)):
        batch = _DEFAULT_BATCH
    return (function.__name__, batch) if type(batch) is int else None


def _is_array(it: Any) -> bool:
    return type(it) is loaded_class("numpy", "ndarray")
