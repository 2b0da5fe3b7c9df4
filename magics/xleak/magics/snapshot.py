"""`%memreport --snapshot FILE`: torch's own record of its blocks on a device, else the cells over time."""

from __future__ import annotations

import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from xleak import _native
from xleak.magics import marks
from xleak.magics.live import live_verdict
from xleak.render.table import printable
from xleak.render.units import counted
from xleak.shell.watcher import watcher
from xleak.verdict import Cell, Verdict

MAGIC = "%%memreport"
OPTION = "--snapshot"
SCHEMA = "xleak.timeline/1"
# Torch's recorder keeps so many changes, the latest: some hundred MiB with their stacks.
_MOST_ENTRIES = 100_000
_SUFFIXES = (".pickle", ".json")
# Cells that switch it by themselves.
_RECORDS = re.compile(r"_record_memory_history")


def file_of(arguments: str) -> str | None:
    """The file of a `--snapshot FILE`; None where that is not what the words say."""
    words = arguments.split(maxsplit=1)
    if len(words) == 2 and words[0] == OPTION and words[1].strip().endswith(_SUFFIXES):
        return words[1].strip()
    return None


def is_mark(arguments: str) -> bool:
    """Whether a cell with these words behind `%%memreport` is to be recorded."""
    return file_of(arguments) is not None


@_native.out_of_sight
def without_mark(lines: list[str]) -> list[str]:
    """An input transformer of IPython."""
    return lines if watcher() is None else marks.without(lines, MAGIC, is_mark)


def is_recorded(source: str) -> bool:
    """Whether a cell has that mark."""
    return _file_of_cell(source) is not None


class RecordedCells:
    """Has torch record the blocks of a marked cell, and nothing after it."""

    def __init__(self) -> None:
        self._recorder: Any = None
        """Torch's, where we switched it on."""
        self._snapshot: Any = None

    def before_run(self, source: str) -> None:
        """Switches the recorder on, where there is one and the user has not."""
        self._take_and_switch_off()
        self._snapshot = None
        if _file_of_cell(source) is None or _RECORDS.search(source):
            return
        if marks.stops_watching(source):
            return
        recorder = _recorder()
        if recorder is not None and not _is_on():
            recorder._record_memory_history(max_entries=_MOST_ENTRIES)
            self._recorder = recorder

    def after_account(self, index: int) -> None:
        """Takes what was recorded, before anything of xleak's runs."""
        self._take_and_switch_off()

    def after_cell(self, index: int, source: str) -> None:
        """Writes the file of a marked cell."""
        snapshot, self._snapshot = self._snapshot, None
        if (file := _file_of_cell(source)) is not None:
            try:
                print(written(file, snapshot))
            except UsageError as refused:
                print(f"xleak: {refused}")

    def _take_and_switch_off(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            try:
                self._snapshot = recorder._snapshot()
            finally:
                recorder._record_memory_history(enabled=None)


def written(file: str, snapshot: Any = None) -> str:
    """Writes a snapshot and says what and where. Raises UsageError where it cannot be written.

    snapshot: torch's, of what was recorded; without one it is taken now.
    """
    # The command line has more to import than a kernel should wait for.
    from xleak.cli.output import replace_bytes
    from xleak.cli.problem import Problem

    target = Path(file).expanduser()
    if snapshot is None and target.suffix != ".json" and (recorder := _recorder()) is not None:
        snapshot = recorder._snapshot()
    if snapshot is not None and target.suffix != ".json":
        data = pickle.dumps(snapshot)
        changes = sum(map(len, snapshot["device_traces"]))
        what = f"torch's snapshot with {counted(changes, 'change')}, for pytorch.org/memory_viz"
    else:
        verdict = live_verdict()
        data = json.dumps(timeline(verdict), indent=1).encode()
        what = f"the memory of {counted(len(verdict.cells), 'cell')} as {SCHEMA}"
        if target.suffix != ".json":
            target = target.with_name(f"{target.name}.json")
            what += "; torch uses no device here that it records"
    try:
        replace_bytes(target, data)
    except Problem as refused:
        raise UsageError(f"%memreport {OPTION}: {refused}") from None
    return f"written to {printable(str(target))}: {what}"


def timeline(verdict: Verdict) -> dict[str, Any]:
    """The session as `xleak.timeline/1`: share/comm/timeline.v1.schema.json has every field."""
    points: list[dict[str, Any]] = []
    seconds: float | None = 0.0
    for cell in verdict.cells:
        points += _points(cell, seconds)
        seconds = None if seconds is None or cell.seconds is None else seconds + cell.seconds
    return {"schema": SCHEMA, "versions": verdict.source.versions, "points": points}


def _points(cell: Cell, seconds: float | None) -> list[dict[str, Any]]:
    host = cell.host
    end = None if seconds is None or cell.seconds is None else seconds + cell.seconds
    return [
        {
            "cell": cell.index,
            "at": "start",
            "seconds": seconds,
            "resident_bytes": host.resident_before_bytes,
        },
        {
            "cell": cell.index,
            "at": "peak",
            "seconds": None,
            "resident_bytes": host.resident_peak_bytes,
            "tensor_bytes": host.tensor_peak_bytes,
            "devices": {use.device: use.allocated_peak_bytes for use in cell.devices},
        },
        {
            "cell": cell.index,
            "at": "end",
            "seconds": end,
            "resident_bytes": host.resident_after_bytes,
            "heap_kept_bytes": host.heap_kept_bytes,
            "tensor_kept_bytes": host.tensor_kept_bytes,
            "devices": {use.device: use.allocated_kept_bytes for use in cell.devices},
            "reserved": {use.device: use.reserved_bytes for use in cell.devices},
        },
    ]


def _file_of_cell(source: str) -> str | None:
    arguments = marks.arguments_of(source, MAGIC)
    return None if arguments is None else file_of(arguments)


def _recorder() -> Any:
    """torch.cuda.memory, where torch uses CUDA already."""
    is_initialized = _native.fields_of_module("torch.cuda").get("is_initialized", lambda: False)
    return sys.modules.get("torch.cuda.memory") if is_initialized() else None


def _is_on() -> bool:
    """Whether the user has switched it on, or may have: what it has is left to them."""
    ask = _native.fields_of_module("torch._C").get("_cuda_isHistoryEnabled")
    return bool(ask()) if callable(ask) else True
