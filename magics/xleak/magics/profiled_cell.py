"""`%%leakcheck --profile`: a cell runs as any other, once, under torch's profiler."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from xleak import _native
from xleak.cell_names import name_of_run
from xleak.magics import marks
from xleak.originals import os
from xleak.render.table import printable
from xleak.render.units import counted, human_bytes, human_seconds
from xleak.shell.batches import BatchPeak, batch_size
from xleak.shell.profile import LEAST_SHARE, MEMORY, REST, Event, Profile, Totals, profile_of
from xleak.shell.tracebacks import frames_of_last
from xleak.shell.watcher import watcher

MAGIC = "%%leakcheck"
_OPTION = "--profile"
# One profiler takes the place of another.
_PROFILES = re.compile(r"profil", re.IGNORECASE)
# (part of torch, function) by which a phase begins.
_BEGINS = {
    ("autograd", "backward"): "backward",
    ("autograd", "grad"): "backward",
    ("autograd", "_engine_run_backward"): "backward",
    ("optim", "step"): "optimizer step",
    # Around the step of each optimizer.
    ("optim", "wrapper"): "optimizer step",
    ("utils/data", "__next__"): "next batch",
}
_LOG_LEVEL = "KINETO_LOG_LEVEL"


def is_mark(arguments: str) -> bool:
    """Whether what follows the magic is `--profile`, alone or with a file for the trace."""
    words = arguments.split(maxsplit=1)
    return words[:1] == [_OPTION] and (len(words) == 1 or words[1].endswith(".json"))


@_native.out_of_sight
def without_mark(lines: list[str]) -> list[str]:
    """An input transformer of IPython."""
    return lines if watcher() is None else marks.without(lines, MAGIC, is_mark)


def is_profiled(source: str) -> bool:
    """Whether a cell has that mark."""
    arguments = marks.arguments_of(source, MAGIC)
    return arguments is not None and is_mark(arguments)


class ProfiledCells:
    """Starts and stops the profiler around a marked cell, and reports below it."""

    def __init__(self) -> None:
        self.latest: Profile | None = None
        self.batches: list[BatchPeak] = []
        """Of the profiled cells that a name tells the size of the batches of."""
        self._running: Any = None
        self._ran: Any = None
        """The profiler of the cell that has just ended: it has its trace."""
        self._said = ""

    def before_run(self, source: str) -> None:
        """Starts it. source: as the user wrote it."""
        self._stopped()
        self._said = ""
        arguments = marks.arguments_of(source, MAGIC)
        if arguments is None or not is_mark(arguments):
            return
        body = "\n".join(line for line in source.splitlines() if not line.startswith("%%"))
        is_profiled = _native.fields_of_module("torch.autograd").get("_profiler_enabled")
        if is_profiled is None:
            self._said = "torch was not imported before this cell, so nothing was profiled"
        elif is_profiled() or _PROFILES.search(body):
            self._said = "a profiler of your own has this cell, so xleak started none"
        elif not marks.stops_watching(body):
            self._running = _started()

    def after_account(self, index: int) -> None:
        """Stops it, before anything of xleak's runs."""
        self._ran = self._stopped()
        if self._ran is not None:
            self.latest = _read(index, self._ran)
            if self.latest is None:
                self._said = "the profiler saw nothing: another one took its place"

    def after_cell(self, index: int, source: str) -> None:
        """Prints what a marked cell did; writes its trace where a file was named."""
        arguments = marks.arguments_of(source, MAGIC)
        ran, self._ran = self._ran, None
        if arguments is None or not is_mark(arguments):
            return
        if self._said:
            print(f"xleak: {self._said}.")
        elif self.latest is not None and self.latest.cell == index:
            self._note_batch(self.latest, source)
            print(report(self.latest))
            file = arguments[len(_OPTION) :].strip()
            if file and ran is not None:
                print(_exported(ran, Path(file).expanduser()))

    def _note_batch(self, profile: Profile, source: str) -> None:
        watching = watcher()
        size = batch_size(source, watching.shell.user_ns) if watching is not None else None
        if size is not None and profile.failed_in is None:
            self.batches.append(BatchPeak(profile.cell, size, profile.peak_bytes))

    def _stopped(self) -> Any:
        """The profiler that ran, now stopped; None where there was none."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()
        return running


def _started() -> Any:
    from torch import profiler

    activities = [profiler.ProfilerActivity.CPU]
    if _native.fields_of_module("torch.cuda").get("is_initialized", lambda: False)():
        activities.append(profiler.ProfilerActivity.CUDA)
    started = profiler.profile(activities=activities, profile_memory=True)
    # It writes its own steps to stderr, at the level that it finds when it first starts.
    quiet = _LOG_LEVEL not in os.environ
    if quiet:
        os.environ[_LOG_LEVEL] = "99"
    try:
        started.start()
    finally:
        if quiet:
            del os.environ[_LOG_LEVEL]
    return started


def _read(index: int, ran: Any) -> Profile | None:
    """The profile of a cell; None where the profiler saw nothing."""
    results = ran.profiler.kineto_results
    told = results.events() if results is not None else []
    if not told:
        return None
    rows = ran.key_averages()
    by_device = any(it.self_device_time_total for it in rows)
    events = [
        Event(it.name(), it.start_ns(), it.end_ns(), it.nbytes(), it.device_type().name != "CPU")
        for it in told
        # Memory of the host beside a device is no matter.
        if it.name() != MEMORY or not by_device or it.device_type().name != "CPU"
    ]
    profile = profile_of(index, events, [_totals(it, by_device) for it in rows])
    return replace(profile, failed_in=_failed_in(index))


def _failed_in(index: int) -> str | None:
    """The phase that a cell raised in, by the outermost frame of torch's that begins one."""
    record = _native.record(index)
    if record is None or record.status != "error":
        return None
    codes = [frame.f_code for frame in frames_of_last()]
    names = [_BEGINS.get((_part(it.co_filename), it.co_name)) for it in codes]
    return next((name for name in names if name is not None), REST)


def _part(file: str) -> str:
    """The part of torch that a file is of: "optim" of .../torch/optim/optimizer.py."""
    return file.rpartition("/torch/")[2].rpartition("/")[0]


def _totals(it: Any, by_device: bool) -> Totals:
    microseconds = it.self_device_time_total if by_device else it.self_cpu_time_total
    asked = it.device_memory_usage if by_device else it.cpu_memory_usage
    return Totals(it.key, microseconds / 1e6, it.count, max(0, asked))


def _exported(ran: Any, target: Path) -> str:
    file = printable(str(target))
    try:
        # Torch would write through a link, and wait for a reader of a pipe.
        with tempfile.TemporaryDirectory(prefix=".xleak-", dir=target.parent) as folder:
            draft = Path(folder) / target.name
            ran.export_chrome_trace(str(draft))
            draft.replace(target)
    except (OSError, RuntimeError) as refused:
        why = refused.strerror if isinstance(refused, OSError) else str(refused)
        return f"xleak: the trace was not written to {file}: {why}."
    return f"the trace is in {file}; chrome://tracing and Perfetto show it"


def report(profile: Profile) -> str:
    """What a profiled cell did, as plain text."""
    lines = [
        f"{name_of_run(profile.cell)} under torch's profiler, which slows it: "
        f"{human_seconds(profile.seconds)} of the host"
    ]
    lines += [
        f"  {phase.name}: {human_seconds(phase.seconds)}, peak {human_bytes(phase.peak_bytes)}, "
        f"{human_bytes(phase.end_bytes)} after it"
        for phase in profile.phases
    ]
    if profile.failed_in is not None:
        lines.append(f"  it failed in: {profile.failed_in}")
    if profile.busy_share is not None:
        lines.append(f"  a device was busy in {profile.busy_share:.0%} of the time")
    lines.append(
        f"  of {human_bytes(profile.allocated_bytes)} asked for, "
        f"{human_bytes(profile.copied_bytes)} were copies and conversions"
    )
    lines.append(f"  {counted(profile.reads, 'value')} of a tensor read, {_waited(profile)}")
    if profile.operators:
        lines.append(f"  operators with {LEAST_SHARE:.0%} of the time and more:")
        lines += [
            f"    {it.share:4.0%}  {printable(it.name)}, {counted(it.calls, 'call')}"
            for it in profile.operators
        ]
    return "\n".join(lines)


def _waited(profile: Profile) -> str:
    if not profile.transfers and not profile.waiting_seconds:
        return "none of which waited for a device"
    return (
        f"{human_seconds(profile.waiting_seconds)} waiting for the device, "
        f"{counted(profile.transfers, 'transfer')} to it"
    )
