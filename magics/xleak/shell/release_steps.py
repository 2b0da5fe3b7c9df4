"""Gives back what the whole session keeps unseen, in steps that may be asked for one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.counters import read_counters, returned
from xleak.shell.gradients import (
    GraphGradient,
    Graphs,
    drop,
    gradients_with_graph,
    orphaned_gradients,
)
from xleak.shell.heap import take_snapshot
from xleak.shell.outputs import OutputFacts, kept_by_outputs
from xleak.shell.release import GARBAGE, collect_garbage, current_watcher
from xleak.shell.tensor_fields import tensor_field
from xleak.shell.tracebacks import LAST_TRACEBACK, drop_last_errors, frames_to_go, last_errors
from xleak.shell.watcher import Watcher


@dataclass(frozen=True)
class Step:
    """One step of `release_cache`. freed: bytes by allocator; detail: what was found."""

    title: str
    detail: str
    freed: dict[str, int] = field(default_factory=dict)


def release_cache(*only: str, dry_run: bool = False) -> list[Step]:
    """Releases, in this order: garbage cycles, tracebacks, output entries that nobody uses, gradients
    that keep their own Parameters, caches of frameworks, free pages of the C heap.

    only: the names of those of STEPS that are wanted; none means all. Raises ValueError for another one,
    RuntimeError where xleak is not loaded.
    """
    if unknown := [step for step in only if step not in STEPS]:
        raise ValueError(f"the steps are {', '.join(STEPS)}, got {unknown[0]!r}")
    watching = current_watcher()
    heap = take_snapshot(watching)
    assert heap is not None  # Nothing interrupts it.
    going = _Going(watching, heap, dry_run)
    done = [act(going) for step, act in STEPS.items() if not only or step in only]
    if not dry_run:
        watching.refresh()
    return done


class _Going:
    """What the steps release, one after another. heap: as it was before the first of them."""

    def __init__(self, watching: Watcher, heap: _native.HeapSnapshot, dry_run: bool) -> None:
        self.watching = watching
        self.heap = heap
        self.dry_run = dry_run
        self._labels: list[str] = []
        self._links: list[tuple[Any, Any]] = []
        self._predicted: dict[str, int] = {}

    @property
    def labels(self) -> list[str]:
        """What is gone by now."""
        return list(self._labels)

    def without(
        self,
        step: tuple[str, str, str],
        labels: list[str],
        links: list[tuple[Any, Any]],
        act: Callable[[], object],
    ) -> Step:
        """Does a step, (title, detail, what the journal says), or predicts what it would free."""
        title, detail, what = step
        self._labels += labels
        self._links += links
        if self.dry_run:
            before = self._predicted
            self._predicted = now = self.heap.freed_by(self._labels, self._links)
            would = {owner: size - before.get(owner, 0) for owner, size in now.items()}
            return Step(title, detail, {owner: size for owner, size in would.items() if size})
        waits = self.heap.would_wait(self._labels, self._links)
        links.clear()
        self._links.clear()
        if waits:
            collect_garbage(self.watching, "%release_cache")

        def act_and_collect() -> None:
            act()
            if waits:
                _native.in_sight(gc.collect)

        return self.measured(title, detail, what, act_and_collect)

    def measured(self, title: str, detail: str, what: str, act: Callable[[], object]) -> Step:
        """Does it; what came back goes to the journal."""
        before = read_counters()
        act()
        return self.noted(Step(title, detail, returned(before, read_counters())), what)

    def noted(self, step: Step, what: str) -> Step:
        """Writes the journal."""
        if any(size > 0 for size in step.freed.values()):
            self.watching.journal.add("you", what, "%release_cache", step.freed)
        return step


def _collect_cycles(going: _Going) -> Step:
    title = "Garbage cycles"
    if going.dry_run:
        orphans = _orphans(going)
        waiting = going.heap.waiting([it.leaf for it in orphans])
        return Step(title, "what waits for the collector", waiting)
    before = read_counters()
    found = _native.in_sight(gc.collect)
    detail = f"{found} unreachable objects"
    return going.noted(Step(title, detail, returned(before, read_counters())), GARBAGE)


def _release_tracebacks(going: _Going) -> Step:
    title, shell = "Tracebacks", going.watching.shell
    if not last_errors(shell):
        return Step(title, "none is kept")
    step = title, "the last error's frames", LAST_TRACEBACK
    links: list[tuple[Any, Any]] = [*frames_to_go(shell)]
    return going.without(step, [LAST_TRACEBACK], links, lambda: drop_last_errors(shell))


def _release_outputs(going: _Going) -> Step:
    title, caches = "Output entries that nobody uses", going.watching.caches
    known = kept_by_outputs(going.watching, going.heap, going.labels)
    shown = caches.values(scalars=True)
    known = [entry for entry in known if entry.number in shown]
    recent = caches.recent()
    orphans = [entry for entry in known if id(shown[entry.number]) not in recent]
    detail = _listed(orphans) or "none"
    if stay := _listed([entry for entry in known if entry not in orphans]):
        detail += f" ({stay}: `_`, `__` or `___` still mean it, so it stays; %xdel frees it)"
    if not orphans:
        return Step(title, detail)
    ids = {id(shown[entry.number]) for entry in orphans}
    del shown
    what = ", ".join(f"Out[{entry.number}]" for entry in orphans)
    gone = [label for it, label in caches.labels().items() if it in ids]
    return going.without(
        (title, detail, what), gone, [], lambda: caches.drop(lambda value: id(value) in ids)
    )


def _listed(entries: list[OutputFacts]) -> str:
    return ", ".join(f"Out[{e.number}] {_native.human(e.held_bytes)}" for e in entries)


def _orphans(going: _Going) -> list[GraphGradient]:
    with _native.LiveObjects() as live:
        if not gradients_with_graph(live):
            return []
        return orphaned_gradients(going.heap, live)


def _release_orphans(going: _Going) -> Step:
    title, orphans = "Gradients that keep their Parameters", _orphans(going)
    if not orphans:
        return Step(title, "none")
    count = len(orphans)
    if not going.dry_run:
        what = f"gradients of {count} Parameters"
        return going.measured(title, f"{count} that no name reached", what, lambda: drop(orphans))
    with _native.LiveObjects() as live:
        tensors = [tensor for it in orphans for tensor in (it.leaf, it.gradient)]
        freed = Graphs(going.heap, live).freed_with(tensors)
        device = str(tensor_field(orphans[0].leaf, "device"))
    owner = "malloc" if device == "cpu" else device
    return Step(title, f"{count} that no name reaches", {owner: freed})


def _empty_framework_caches(going: _Going) -> Step:
    title, freed = "Caches of frameworks", dict[str, int]()
    for name in ("cuda", "xpu", "mps"):
        backend = _native.fields_of_module(f"torch.{name}")
        ready = backend.get("is_initialized", lambda: False)
        if "memory_reserved" not in backend or not ready():
            continue
        before = backend["memory_reserved"]()
        kept = before - backend["memory_allocated"]()
        if not going.dry_run:
            backend["empty_cache"]()
            kept = before - backend["memory_reserved"]()
        freed[name] = kept
    step = Step(title, "torch's" if freed else "none is in use", freed)
    return step if going.dry_run else going.noted(step, "caches of frameworks")


def _trim_heap(going: _Going) -> Step:
    title = "Free pages of the C heap"
    try:
        free = _native.heap().free_bytes
        if going.dry_run:
            return Step(title, f"up to {_native.human(free)}")
        step = Step(title, f"{_native.human(free)} were free", {"system": _native.trim_heap()})
        return going.noted(step, "free pages of the C heap")
    except _native.MonitorError as error:
        return Step(title, str(error))


STEPS: Mapping[str, Callable[[_Going], Step]] = {
    "garbage": _collect_cycles,
    "tracebacks": _release_tracebacks,
    "outputs": _release_outputs,
    "gradients": _release_orphans,
    "caches": _empty_framework_caches,
    "heap": _trim_heap,
}
"""In the order in which they are done."""
