"""What a diagnosis has to go by. Nothing of the user's runs for it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xleak import _native
from xleak.explain import kind
from xleak.magics.suspicions import Suspicion, source_of_session
from xleak.shell import tensors
from xleak.shell.batches import BatchPeak
from xleak.shell.cell_notes import CellNotes, CellTime
from xleak.shell.fields import fields_of, is_instance
from xleak.shell.heap import user_values
from xleak.shell.holders.reruns import identity_of
from xleak.shell.out_of_memory.host_memory import room
from xleak.shell.readings import DeviceReading, device_readings
from xleak.shell.torch_modes import mode_line
from xleak.verdict import Cell, Finding, Verdict

if TYPE_CHECKING:
    from xleak.magics.profiled_cell import ProfiledCells
    from xleak.shell.profile import Profile
    from xleak.shell.watcher import Watcher

# The thresholds of growth: fewer runs, or less, is no trend.
_RUNS = 3
_LEAST_GROWTH_BYTES = 1 << 20
# A run that keeps less than this part of what another kept made something again, and no more of it.
_ALIKE = 10
_TRAINS = re.compile(r"\.backward\(")
_LOADER = ("torch.utils.data.dataloader", "DataLoader")


@dataclass(frozen=True)
class Growth:
    """A cell each of whose latest runs kept more."""

    cell: int
    """Index of the last run."""
    runs: int
    bytes: int


@dataclass(frozen=True)
class Loader:
    """A DataLoader that a name of the user's stands for."""

    name: str
    workers: int
    is_pinned: bool


@dataclass(frozen=True)
class Evidence:
    """The session as it was measured."""

    verdict: Verdict
    suspicions: list[Suspicion]
    devices: list[DeviceReading]
    is_watched: bool
    has_torch: bool
    tensors_unknown: str | None
    """Why torch's tensors are not counted."""
    has_trained: bool
    """A cell's source calls backward()."""
    times: list[CellTime]
    out_of_memory: list[int]
    growth: list[Growth]
    loaders: list[Loader]
    profile: Profile | None
    """Of the last cell that `%%leakcheck --profile` ran."""
    modes: str = ""
    """Of torch, as they are now, in one line."""
    batches: list[BatchPeak] = field(default_factory=list)
    """Of profiled cells, oldest first."""
    room_bytes: int | None = None
    """Free where the profiled cells ran: on their device, else on the host."""

    @property
    def cells(self) -> list[Cell]:
        """The user's that ran."""
        return [cell for cell in self.verdict.cells if not cell.own]

    def found(self, codes: Iterable[str]) -> list[Finding]:
        """What was measured by these rules."""
        wanted = set(codes)
        return [it for it in self.verdict.findings if it.code in wanted]

    def suspected(self, codes: Iterable[str]) -> list[Suspicion]:
        """What the source alone says by these rules."""
        wanted = set(codes)
        return [it for it in self.suspicions if it.found.code in wanted]

    def leaks(self, least_bytes: int) -> list[Finding]:
        """What stays and keeps so much, most first."""
        return [
            it
            for it in self.verdict.findings
            if kind(it.code).effect == "leak"
            and it.severity != "note"
            and (it.bytes or 0) >= least_bytes
        ]


def collect(
    watching: Watcher,
    verdict: Verdict,
    sources: Mapping[int, str],
    notes: CellNotes,
    profiled: ProfiledCells,
) -> Evidence:
    """The evidence of the session of a watcher. sources: what the cells were, by index."""
    read = source_of_session(watching.shell, verdict)
    verdict = read.confirming(verdict)
    return Evidence(
        verdict,
        read.unconfirmed(verdict),
        device_readings(),
        watching.settings.policy != "off",
        "torch" in sys.modules,
        tensors.why_unknown(),
        any(map(_TRAINS.search, sources.values())),
        notes.cell_times(sources, watching.shell),
        list(watching.postmortems),
        _growth(verdict.cells, sources),
        _loaders(watching),
        profiled.latest,
        mode_line(),
        profiled.batches,
        _room(profiled.latest),
    )


def _room(profile: Profile | None) -> int | None:
    if profile is None or profile.busy_seconds is None:
        return _room_on_host()
    # One that torch's profiler saw; of several it is not known which.
    cards = [it for it in device_readings() if it.allocated]
    if len(cards) != 1 or cards[0].total is None or cards[0].allocated is None:
        return None
    return max(0, cards[0].total - cards[0].allocated)


def _room_on_host() -> int | None:
    below = room()
    known = (it.resident_after_bytes for it in reversed(_native.records()))
    # That of the cell that asks is not yet known.
    resident = next((size for size in known if size is not None), None)
    if below is None or resident is None:
        return None
    # A limit of a cgroup's ends a process, and no allocation is refused before.
    return max(0, min(below.free, _native.ram_bytes() - resident))


def kept_bytes(cell: Cell) -> int | None:
    """What a cell kept, by the counter of what is asked for that moved most; None where none is known."""
    sizes = [use.allocated_kept_bytes for use in cell.devices]
    sizes += [cell.host.heap_kept_bytes, cell.host.tensor_kept_bytes]
    return max((size for size in sizes if size is not None), default=None)


def _growth(cells: list[Cell], sources: Mapping[int, str]) -> list[Growth]:
    runs: dict[str, list[tuple[int, int]]] = {}
    for cell in cells:
        kept = None if cell.own else kept_bytes(cell)
        if cell.index in sources and kept is not None:
            identity = identity_of(cell.index, sources[cell.index])
            runs.setdefault(identity, []).append((cell.index, kept))
    latest = [of_cell[-_RUNS:] for of_cell in runs.values() if len(of_cell) >= _RUNS]
    return [
        Growth(of_cell[-1][0], _RUNS, sum(kept for _, kept in of_cell))
        for of_cell in latest
        if _rises([kept for _, kept in of_cell])
    ]


def _rises(kept: list[int]) -> bool:
    return min(kept) * _ALIKE >= max(kept) and sum(kept) >= _LEAST_GROWTH_BYTES


def _loaders(watching: Watcher) -> list[Loader]:
    found = []
    for name, value in user_values(watching).items():
        if is_instance(value, *_LOADER):
            fields = fields_of(value)
            workers, pinned = fields.get("num_workers"), fields.get("pin_memory")
            if type(workers) is int and type(pinned) is bool:
                found.append(Loader(name, workers, pinned))
    return found
