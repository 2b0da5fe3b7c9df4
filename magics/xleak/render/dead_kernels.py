"""Records of kernels that died, as text and as `xleak.postmortem/1`.

The JSON Schema is share/comm/postmortem.v1.schema.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import xleak
from xleak.flight.death import Death, death_of, where
from xleak.flight.files import Kept
from xleak.render.sparkline import sparkline
from xleak.render.table import printable
from xleak.render.units import human_bytes, human_seconds

SCHEMA = "xleak.postmortem/1"
_LINES_SHOWN = 3


def report(records: Sequence[Kept]) -> str:
    """Every record with its cell, its sizes, the cause and what to do, without a trailing newline."""
    return "\n\n".join(_shown(kept) for kept in records)


def to_json(records: Sequence[Kept]) -> dict[str, Any]:
    """The same as one JSON object."""
    version = xleak.__version__
    return {"schema": SCHEMA, "version": version, "records": [_shape(kept) for kept in records]}


def _shown(kept: Kept) -> str:
    record, death = kept.record, death_of(kept.record)
    head = f"Kernel {record.pid}, {printable(record.versions)}"
    if record.started:
        head += f", started {_local(record.started)}"
    if record.folder:
        head += f" in {printable(record.folder)}"
    lines = [f"{head}.", f"{where(record)}{_at(record)}.", *_source(record)]
    lines += _sizes(record, death)
    lines += [f"Cause:  {death.why}", f"Next:   {death.advice}"]
    return "\n".join([*lines, f"Record: {printable(str(kept.path))}"])


def _at(record: Any) -> str:
    cell = record.cell
    if cell is None or not cell.running or not cell.began or not cell.samples:
        return ""
    return f", at {_local(cell.began + cell.samples[-1][0])}"


def _source(record: Any) -> list[str]:
    if record.cell is None:
        return []
    lines = record.cell.source.splitlines()
    shown = [f"  | {printable(line)}" for line in lines[:_LINES_SHOWN]]
    return shown + (["  | …"] if len(lines) > _LINES_SHOWN else [])


def _sizes(record: Any, death: Death) -> list[str]:
    if death.last_bytes is None:
        return []
    samples = record.cell.samples
    line = sparkline([(seconds, size) for seconds, size, _ in samples])
    sizes = f"{human_bytes(samples[0][1])} at first, {human_bytes(death.last_bytes)} at last"
    if death.grown_bytes is not None:
        within = human_seconds(death.grown_seconds)
        sizes += f"; risen by {human_bytes(death.grown_bytes)} within {within}"
    if record.limit_bytes is not None:
        whose = "control group" if record.limit_is_group else "machine"
        sizes += f"; limit {human_bytes(record.limit_bytes)} ({whose})"
    return [f"Memory: {line}", f"        {sizes}"]


def _shape(kept: Kept) -> dict[str, Any]:
    record, death = kept.record, death_of(kept.record)
    cell = record.cell
    return {
        "path": str(kept.path),
        "pid": record.pid,
        "versions": record.versions,
        "started": _utc(record.started),
        "folder": record.folder or None,
        "connection_file": record.connection_file or None,
        "cell": None
        if cell is None
        else {
            "index": cell.index,
            "execution_count": cell.execution_count,
            "cell_id": cell.cell_id or None,
            "source": cell.source,
            "running": cell.running,
            "began": _utc(cell.began),
            "seconds": cell.samples[-1][0] if cell.samples else None,
            "sizes": [list(sample) for sample in cell.samples],
        },
        "last_bytes": death.last_bytes,
        "grown_bytes": death.grown_bytes,
        "grown_seconds": death.grown_seconds,
        "limit_bytes": record.limit_bytes,
        "limit": None
        if record.limit_bytes is None
        else "cgroup"
        if record.limit_is_group
        else "machine",
        "exit_status": record.exit_status,
        "cause": death.cause,
        "why": death.why,
        "advice": death.advice,
    }


def _utc(seconds: float) -> str | None:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat() if seconds else None


def _local(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M:%S")
