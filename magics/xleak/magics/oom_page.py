"""What `%xleak oom` shows: state, usual causes, the last post-mortem."""

from __future__ import annotations

from dataclasses import dataclass

from xleak import _native
from xleak.postmortem import HeldByName, KeptByCell, Postmortem
from xleak.shell.out_of_memory import autopsy
from xleak.shell.out_of_memory.advice import Situation, is_fragmented
from xleak.shell.out_of_memory.errors import HOST
from xleak.shell.readings import device_readings
from xleak.shell.torch_module import why_missing
from xleak.shell.watcher import Watcher

# What a run out of memory comes from most often, and where torch is needed to see it.
_CAUSES = {
    "XL204": ("gradients are not cleared between steps", True),
    "XL201": ("an evaluation keeps graphs", True),
    "XL102": ("a history keeps losses with their graphs", True),
    "XL208": ("a hidden state keeps the graphs of earlier steps", True),
    "XL203": ("a running loss keeps its graphs", True),
    "XL603": ("the batch is too large for the device", True),
    "XL620": ("the second attempt runs while the first one's frames are held", True),
    "XL401": ("Out keeps large values", False),
    "XL402": ("the last traceback keeps its frames", False),
}
_FRAGMENTED = "the allocator is fragmented (XL604): reserved above 1.5 times allocated"


@dataclass(frozen=True)
class Allocator:
    """The state of one, in bytes; None is unknown. peak: the highest of any cell."""

    allocator: str
    allocated_bytes: int | None
    reserved_bytes: int | None
    peak_bytes: int | None
    free_bytes: int | None
    cells: list[KeptByCell]
    names: list[HeldByName]
    releasable_bytes: int | None
    fix: str | None


@dataclass(frozen=True)
class Check:
    """One usual cause; `found` is None where nobody could see it."""

    code: str
    question: str
    found: bool | None
    evidence: str
    fix: str | None


@dataclass(frozen=True)
class OomPage:
    """All that `%xleak oom` shows."""

    allocators: list[Allocator]
    checks: list[Check]
    last: Postmortem | None


def look(watching: Watcher) -> OomPage:
    """The page as of now."""
    watching.refresh()
    names = [HOST, *(reading.device for reading in device_readings())]
    allocators = [_allocator(watching, name) for name in names]
    checks = [_check(code) for code in _CAUSES]
    checks += [_fragmentation(it) for it in allocators if it.allocator != HOST]
    told = watching.postmortems
    return OomPage(allocators, checks, told[max(told)] if told else None)


def _allocator(watching: Watcher, name: str) -> Allocator:
    search = autopsy.Search(watching, name)
    now, _ = autopsy.state(name)
    releasable, fix = autopsy.releasable(search, now)
    return Allocator(
        name,
        now.allocated,
        now.reserved,
        _peak(name),
        now.free,
        autopsy.growth(name, watching.postmortems),
        search.names(),
        releasable,
        fix,
    )


def _peak(name: str) -> int | None:
    """Of the host the resident size of the process."""
    peaks = [
        peak
        for record in _native.records()
        if not record.is_own
        for peak in (
            [record.resident_peak_bytes]
            if name == HOST
            else [use.allocated_peak_bytes for use in record.devices if use.device == name]
        )
        if peak is not None
    ]
    return max(peaks, default=None)


def _check(code: str) -> Check:
    question, needs_torch = _CAUSES[code]
    found = [it for it in _native.findings() if it.code == code and it.basis == "measured"]
    if found:
        fix = found[0].fixes[0].code if found[0].fixes else None
        return Check(code, question, True, found[0].message, fix)
    if needs_torch and (missing := why_missing()):
        return Check(code, question, None, missing, None)
    return Check(code, question, False, "", None)


def _fragmentation(on: Allocator) -> Check:
    question = f"{on.allocator}: {_FRAGMENTED}"
    if on.allocated_bytes is None or on.reserved_bytes is None:
        return Check("XL604", question, None, "the allocator does not tell", None)
    seen = Situation(on.allocator, None, None, on.allocated_bytes, on.reserved_bytes)
    sizes = f"{_native.human(on.reserved_bytes)} to {_native.human(on.allocated_bytes)}"
    found = is_fragmented(seen)
    remedy = "; `expandable_segments:True` may help, and may not" if found else ""
    return Check("XL604", question, found, sizes + remedy, None)
