"""What torch's profiler tells of a cell: where its time went, and its memory in each phase of a step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

_BACKWARD = "autograd::engine::evaluate_function"
# Names that torch gives to the parts of a step.
_PHASES = {
    _BACKWARD: "backward",
    "Optimizer.step#": "optimizer step",
    "enumerate(DataLoader)#": "next batch",
}
MEMORY = "[memory]"
REST = "forward and the rest"
_READS = "aten::_local_scalar_dense"
_WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "hipStreamSynchronize")
_TO_DEVICE = "Memcpy HtoD"
_COPIES = ("aten::clone", "aten::_to_copy")
# The seed of the method asks for the operators above it.
LEAST_SHARE = 0.1


class Event(NamedTuple):
    """One of the profiler's, in nanoseconds. bytes: of a change of memory, negative when freed."""

    name: str
    start: int
    end: int
    bytes: int = 0
    on_device: bool = False


class Totals(NamedTuple):
    """All calls of one operator. seconds: without those that it calls; bytes: asked for, with them."""

    name: str
    seconds: float
    calls: int
    bytes: int


@dataclass(frozen=True)
class Operator:
    """One that took a tenth of the time or more. share: from 0 to 1."""

    name: str
    share: float
    calls: int


@dataclass(frozen=True)
class Phase:
    """A part of the steps of a cell. Sizes are bytes above what was there when the cell began."""

    name: str
    seconds: float
    count: int
    peak_bytes: int
    end_bytes: int
    """After the last of them."""


@dataclass(frozen=True)
class Profile:
    """A cell as the profiler saw it."""

    cell: int
    seconds: float
    operators: list[Operator]
    phases: list[Phase]
    peak_bytes: int
    saved_bytes: int | None
    """The most that a forward pass left for its backward pass; None where none was seen."""
    reads: int
    """Values of a tensor that Python read."""
    waiting_seconds: float
    """Of the host for the device."""
    transfers: int
    transfer_seconds: float
    copied_bytes: int
    allocated_bytes: int
    busy_seconds: float | None = None
    """In which a device computed or copied; None where none did."""
    failed_in: str | None = None
    """The name of the phase that raised; None for a cell that did not."""

    @property
    def busy_share(self) -> float | None:
        """Of the time, in which a device had something to do."""
        if self.busy_seconds is None or not self.seconds:
            return None
        return self.busy_seconds / self.seconds

    @property
    def loading_share(self) -> float:
        """Of the time, in which the next batch was waited for."""
        waited = sum(it.seconds for it in self.phases if it.name == "next batch")
        return waited / self.seconds if self.seconds else 0.0

    @property
    def saved_share(self) -> float | None:
        """What forward passes leave for the way back, as a part of the peak."""
        return self.saved_bytes / self.peak_bytes if self.saved_bytes and self.peak_bytes else None


def profile_of(cell: int, events: Iterable[Event], totals: Iterable[Totals]) -> Profile:
    """The profile of a cell. events: in any order; memory is told by those named `[memory]`."""
    rows = sorted(events, key=lambda it: it.start)
    memory = _Memory([it for it in rows if it.name == MEMORY])
    timed = [it for it in rows if it.name != MEMORY]
    spans = _spans(timed)
    start = min((it.start for it in rows), default=0)
    end = max((it.end for it in rows), default=0)
    by_name = {it.name: it for it in totals}
    return Profile(
        cell,
        (end - start) / 1e9,
        _operators(by_name.values()),
        _phases(spans, memory, start, end),
        memory.peak(start, end),
        _saved(spans, memory, start),
        by_name[_READS].calls if _READS in by_name else 0,
        sum(it.end - it.start for it in timed if it.name in _WAITS) / 1e9,
        sum(it.name.startswith(_TO_DEVICE) for it in timed),
        sum(it.end - it.start for it in timed if it.name.startswith(_TO_DEVICE)) / 1e9,
        sum(by_name[name].bytes for name in _COPIES if name in by_name),
        sum(max(0, it.bytes) for it in rows if it.name == MEMORY),
        _busy(timed),
    )


class _Memory:
    """The bytes in use over time, from 0 at the start."""

    def __init__(self, changes: list[Event]) -> None:
        self._times = [it.start for it in changes]
        self._levels = list(accumulate((it.bytes for it in changes), initial=0))

    def at(self, time: int) -> int:
        return self._levels[bisect_right(self._times, time)]

    def peak(self, start: int, end: int) -> int:
        first, last = bisect_right(self._times, start), bisect_right(self._times, end)
        return max(self._levels[first : last + 1])


def _spans(timed: list[Event]) -> list[Event]:
    """The phases that torch names, each pass backwards as one, in their order."""
    spans: list[Event] = []
    for it in timed:
        phase = next((name for start, name in _PHASES.items() if it.name.startswith(start)), None)
        if phase is None:
            continue
        last = spans[-1] if spans else None
        if last is not None and last.name == phase == "backward":
            spans[-1] = last._replace(end=max(last.end, it.end))
        else:
            spans.append(Event(phase, it.start, it.end))
    return spans


def _phases(spans: list[Event], memory: _Memory, start: int, end: int) -> list[Phase]:
    told: dict[str, list[Event]] = {name: [] for name in ("next batch", REST)}
    at = start
    for span in spans:
        if span.start > at:
            told[REST].append(Event(REST, at, span.start))
        told.setdefault(span.name, []).append(span)
        at = max(at, span.end)
    if end > at:
        told[REST].append(Event(REST, at, end))
    return [
        Phase(
            name,
            sum(it.end - it.start for it in parts) / 1e9,
            len(parts),
            max(memory.peak(it.start, it.end) for it in parts),
            memory.at(parts[-1].end),
        )
        for name, parts in told.items()
        if parts
    ]


def _saved(spans: list[Event], memory: _Memory, start: int) -> int | None:
    """By how much the memory rose from the end of a step, or of the cell's start, to a pass back."""
    saved: int | None = None
    base = memory.at(start)
    for span in spans:
        if span.name == "backward":
            saved = max(saved or 0, memory.at(span.start) - base)
        if span.name in ("backward", "optimizer step"):
            base = memory.at(span.end)
    return saved


def _busy(timed: list[Event]) -> float | None:
    """Seconds in which a device did at least one thing. The events come by their start."""
    # Marks of the host's stand on the device, too, from the first to the last of what they are around.
    marks = {it.name for it in timed if not it.on_device}
    on_device = [it for it in timed if it.on_device and it.name not in marks]
    if not on_device:
        return None
    busy, end = 0, on_device[0].start
    for it in on_device:
        busy += max(0, it.end - max(it.start, end))
        end = max(end, it.end)
    return busy / 1e9


def _operators(totals: Iterable[Totals]) -> list[Operator]:
    rows = list(totals)
    seconds = sum(it.seconds for it in rows)
    large = [
        it
        for it in rows
        if seconds and it.seconds >= LEAST_SHARE * seconds and it.name.startswith("aten::")
    ]
    large.sort(key=lambda it: it.seconds, reverse=True)
    return [Operator(it.name, it.seconds / seconds, it.calls) for it in large]
