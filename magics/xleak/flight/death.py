"""What a record says of the end of its process, and no more than it shows."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Literal

from xleak import _native
from xleak.cell_names import cell_name
from xleak.render.units import human_bytes, human_seconds

Cause = Literal["out_of_memory", "signal", "unknown"]

# What the out-of-memory killer ends is near the limit. It strikes only where nothing is left, but the last
# sample is some milliseconds older.
_NEAR = 0.8
# Less is what any cell moves.
_WORTH_TELLING_BYTES = 16 << 20


@dataclass(frozen=True)
class Death:
    """How a process ended. grown_bytes within grown_seconds: the last rise, None where there was none."""

    cause: Cause
    why: str
    last_bytes: int | None
    grown_bytes: int | None
    grown_seconds: float | None
    advice: str


def death_of(record: _native.FlightRecord) -> Death:
    """The account of a process that has ended."""
    cause, why = _cause(record)
    samples = record.cell.samples if record.cell else []
    grown_bytes, grown_seconds = _rise(samples) or (None, None)
    return Death(
        cause,
        why,
        samples[-1][1] if samples else None,
        grown_bytes,
        grown_seconds,
        _advice(cause, record),
    )


def sentence(record: _native.FlightRecord, death: Death) -> str:
    """All of it in one line."""
    return f"{where(record)}{_size(record, death)}. {death.why}"


def within_cell(record: _native.FlightRecord, death: Death) -> str:
    """The end of a line that names the cell already: when, its size and why."""
    cell = record.cell
    if cell is None or not cell.running or not cell.samples:
        return f". {death.why}"
    after = human_seconds(cell.samples[-1][0])
    return f" {after} after the cell had begun{_size(record, death)}. {death.why}"


def where(record: _native.FlightRecord) -> str:
    """In which cell, and after how long."""
    cell = record.cell
    if cell is None:
        return "It ended before its first cell"
    named = cell_name(cell.index, cell.execution_count)
    if not cell.running:
        return f"It ended between cells, after {named}"
    if not cell.samples:
        return f"It ended in {named}"
    return f"It ended in {named}, {human_seconds(cell.samples[-1][0])} after the cell had begun"


def _size(record: _native.FlightRecord, death: Death) -> str:
    if death.last_bytes is None or record.cell is None:
        return ""
    # What it held while it rested matters to one cause alone.
    if not record.cell.running and death.cause != "out_of_memory":
        return ""
    risen = ""
    if death.grown_bytes is not None:
        within = human_seconds(death.grown_seconds)
        risen = f" had risen by {human_bytes(death.grown_bytes)} within {within} and"
    limit = ""
    if record.limit_bytes is not None:
        whose = "its control group may have" if record.limit_is_group else "the machine has"
        limit = f"; {whose} {human_bytes(record.limit_bytes)}"
    return f": it{risen} held {human_bytes(death.last_bytes)} at last{limit}"


def _rise(samples: list[tuple[float, int, int | None]]) -> tuple[int, float] | None:
    """(bytes, seconds) from the last time that it was smallest to its end."""
    if not samples:
        return None
    end_seconds, end_bytes, _ = samples[-1]
    least = min(size for _, size, _ in samples)
    since = max(seconds for seconds, size, _ in samples if size == least)
    if end_bytes - least < _WORTH_TELLING_BYTES:
        return None
    return end_bytes - least, end_seconds - since


def _cause(record: _native.FlightRecord) -> tuple[Cause, str]:
    status = record.exit_status
    kills = _kills(record)
    if status is not None and status >= 0:
        return "unknown", f"Its process ended by itself, with exit code {status}."
    if kills is not None and status in (None, -signal.SIGKILL):
        return kills
    if status is not None:
        name = _signal_name(-status)
        return "signal", f"{name} ended it{_no_sign(record) if status == -signal.SIGKILL else '.'}"
    if record.asked_to_end:
        return (
            "signal",
            "A front end had asked the kernel to shut down and did not wait any longer.",
        )
    return (
        "unknown",
        "What ended it is not known: a signal, such as that of `kill -9`, of a forced restart or of a "
        f"crash in native code, or os._exit(){_no_sign(record)}",
    )


def _kills(record: _native.FlightRecord) -> tuple[Cause, str] | None:
    """What the out-of-memory killer's counts say: None where they say nothing."""
    group_rose = _rose(record.kills_before[0], record.kills_after[0])
    machine_rose = _rose(record.kills_before[1], record.kills_after[1])
    if not group_rose and (group_rose is not None or not machine_rose):
        return None
    whose = "its control group" if group_rose else "the machine"
    struck = f"the out-of-memory killer ended a process of {whose} after that"
    if _was_near_the_limit(record):
        return "out_of_memory", f"Out of memory: {struck}, and little was left."
    return (
        "unknown",
        f"What ended it is not known. {struck[0].upper()}{struck[1:]}, but when last "
        "measured this one was not near the limit.",
    )


def _rose(before: int | None, after: int | None) -> bool | None:
    return None if before is None or after is None else after > before


def _was_near_the_limit(record: _native.FlightRecord) -> bool:
    limit = record.limit_bytes
    samples = record.cell.samples if record.cell else []
    if not samples or not limit:
        return False
    _, resident, available = samples[-1]
    # The rest of the group may hold what this process does not.
    return resident >= _NEAR * limit or (available is not None and available <= (1 - _NEAR) * limit)


def _no_sign(record: _native.FlightRecord) -> str:
    """The end of a sentence: whether somebody would know of the out-of-memory killer."""
    if _rose(record.kills_before[0], record.kills_after[0]) is False:
        return ". The out-of-memory killer ended nothing in its control group since."
    if _rose(record.kills_before[1], record.kills_after[1]) is False:
        return ". The out-of-memory killer ended nothing since."
    return ". Whether the out-of-memory killer did cannot be told any more."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"Signal {number}"


def _advice(cause: Cause, record: _native.FlightRecord) -> str:
    if cause == "out_of_memory":
        return (
            "Have the cell make less at once (smaller batches or chunks), see by `%leakcheck` and "
            "`%memreport` what the cells before it keep, or raise the limit."
        )
    if record.asked_to_end:
        return "Interrupt a cell before a restart where what it has made so far matters."
    return (
        "A crash in native code leaves a traceback in the terminal of the Jupyter server; "
        "`dmesg` names what the out-of-memory killer ended."
    )
