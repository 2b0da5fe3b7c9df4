"""Gives memory back: one value, or what the whole session keeps unseen."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from xleak import _native
from xleak.shell.counters import NOISE_BYTES, read_counters, returned
from xleak.shell.forgetting import Plan, make_plan
from xleak.shell.gradients import drop, gradients_with_graph, orphaned_gradients
from xleak.shell.heap import take_snapshot
from xleak.shell.tracebacks import drop_last_errors, last_errors
from xleak.shell.watcher import Watcher, watcher

_ENTRY = re.compile(r"(?:Out|_oh)\[(\d+)\]|_(\d+)")
# After less has come back than this share of what was to come, a cycle may keep the rest.
_ENOUGH = 0.9


@dataclass(frozen=True)
class ForgetResult:
    """What `forget` did, or would do.

    dropped: the references, in the words that the user would write. freed: bytes by the allocator
    that they came back to, by its own counter; in a dry run what would come back. unknown_bytes:
    estimate of what belongs to allocators without a counter. holders: what still holds the value.
    """

    target: str
    dropped: list[str]
    freed: dict[str, int]
    unknown_bytes: int
    holders: list[str]
    dry_run: bool


@dataclass(frozen=True)
class Step:
    """One step of `release_cache`. freed: bytes by allocator; `detail`: what was found."""

    title: str
    detail: str
    freed: dict[str, int] = field(default_factory=dict)


def forget(
    target: str,
    *,
    dry_run: bool = False,
    by_name_only: bool = False,
    heap: _native.HeapSnapshot | None = None,
) -> ForgetResult:
    """Deletes a name, or an output entry, and every hidden reference of the shell to its value.

    target: a name, or ``Out[n]``, which never touches a name. by_name_only: IPython's ``%xdel -n``.
    heap: as it is now, where the caller has looked already.
    Other names of the user's for the value stay and are listed. Raises ValueError with one sentence
    where there is nothing of that name, RuntimeError where xleak is not loaded.
    """
    watching = _watching()
    if by_name_only:
        return _forget_name_only(watching, target, dry_run)
    _find(watching, target)
    # Before the value is looked at, which would be one more reference to it.
    heap = heap or take_snapshot(watching)
    objects, name = _find(watching, target)
    plan = make_plan(watching, heap, objects, name)
    del objects
    unknown = plan.expected.get("unknown", 0)
    if dry_run:
        would = {owner: size for owner, size in plan.expected.items() if owner != "unknown"}
        return ForgetResult(target, plan.dropped, would, unknown, plan.holders, True)
    freed = _carry_out(watching, plan)
    watching.journal.add("you", target, "%xdel", freed)
    watching.refresh()
    return ForgetResult(target, plan.dropped, freed, unknown, plan.holders, False)


def release_cache(*, dry_run: bool = False) -> list[Step]:
    """Lets go, in this order: tracebacks, output entries that nobody uses, gradients that keep their
    own Parameters, garbage cycles, caches of frameworks, free pages of the C heap. Raises
    RuntimeError where xleak is not loaded."""
    watching = _watching()
    steps: list[Callable[[Watcher, bool], Step]] = [
        _release_tracebacks,
        _release_outputs,
        _release_orphans,
        _collect_cycles,
        _empty_framework_caches,
        _trim_heap,
    ]
    done = [act(watching, dry_run) for act in steps]
    for step in done:
        if not dry_run and any(size > 0 for size in step.freed.values()):
            watching.journal.add("you", step.title, "%release_cache", step.freed)
    watching.refresh()
    return done


def _watching() -> Watcher:
    current = watcher()
    if current is None:
        raise RuntimeError("xleak does not watch this session. Load it with %load_ext xleak")
    return current


# --- one value -------------------------------------------------------------------------------


def _find(watching: Watcher, target: str) -> tuple[list[Any], str | None]:
    """The value, alone in a list, and the user's name for it, None for an entry of the cache."""
    caches, user_ns = watching.caches, watching.shell.user_ns
    entry = _ENTRY.fullmatch(target)
    if entry and not (target in user_ns and not caches.is_cached_name(target)):
        number = int(entry.group(1) or entry.group(2))
        try:
            return [caches.value_of(number)], None
        except KeyError:
            raise ValueError(f"Out[{number}] is not kept: nothing to delete") from None
    if not target.isidentifier():
        raise ValueError(f"%xdel takes one variable name or Out[n], got {target!r}")
    if target not in user_ns:
        raise ValueError(f"name {target!r} is not defined: nothing to delete")
    if caches.is_cached_name(target):
        return [user_ns[target]], None
    if target in watching.shell.user_ns_hidden or target == "__builtins__":
        raise ValueError(f"{target!r} belongs to the shell and stays")
    return [user_ns[target]], target


def _carry_out(watching: Watcher, plan: Plan) -> dict[str, int]:
    before = read_counters()
    ids = {id(value) for value in plan.objects}
    if plan.drops_traceback:
        drop_last_errors(watching.shell)
    watching.caches.drop(lambda value: id(value) in ids)
    user_ns = watching.shell.user_ns
    for tool in watching.tool_names():
        if id(user_ns[tool]) in ids:
            del user_ns[tool]
    if plan.name is not None:
        del user_ns[plan.name]
    plan.objects.clear()
    freed = returned(before, read_counters())
    wanted = sum(plan.expected.values()) - plan.expected.get("unknown", 0)
    if plan.drops_traceback or sum(freed.values()) < wanted * _ENOUGH - NOISE_BYTES:
        gc.collect()
        freed = returned(before, read_counters())
    return freed


def _forget_name_only(watching: Watcher, name: str, dry_run: bool) -> ForgetResult:
    if name not in watching.shell.user_ns:
        raise ValueError(f"name {name!r} is not defined: nothing to delete")
    freed: dict[str, int] = {}
    if not dry_run:
        before = read_counters()
        watching.shell.del_var(name, by_name=True)
        freed = returned(before, read_counters())
        watching.journal.add("you", name, "%xdel -n", freed)
        watching.refresh()
    return ForgetResult(name, [name], freed, 0, [], dry_run)


# --- the whole session -----------------------------------------------------------------------


def _measured(title: str, detail: str, act: Callable[[], object]) -> Step:
    before = read_counters()
    act()
    return Step(title, detail, returned(before, read_counters()))


def _release_tracebacks(watching: Watcher, dry_run: bool) -> Step:
    title, found = "Tracebacks", bool(last_errors(watching.shell))
    detail = "the last error's frames" if found else "none is kept"
    if dry_run or not found:
        return Step(title, detail)
    return _measured(title, detail, lambda: drop_last_errors(watching.shell))


def _release_outputs(watching: Watcher, dry_run: bool) -> Step:
    title, caches = "Output entries that nobody uses", watching.caches
    watching.refresh()
    known = caches.entries()
    orphans = [entry for entry in known if not caches.is_recent(entry.number)]
    detail = _listed(orphans) or "none"
    if stay := _listed([entry for entry in known if entry not in orphans]):
        detail += f" ({stay}: `_`, `__` or `___` still mean it, so it stays; %xdel frees it)"
    if not orphans:
        return Step(title, detail)
    if dry_run:
        owners = sorted({owner for entry in orphans for owner in entry.held} - {"unknown"})
        return Step(title, detail, {o: sum(e.held.get(o, 0) for e in orphans) for o in owners})
    ids = {id(caches.value_of(entry.number)) for entry in orphans}
    return _measured(title, detail, lambda: caches.drop(lambda value: id(value) in ids))


def _listed(entries: list[_native.OutputFacts]) -> str:
    return ", ".join(f"Out[{e.number}] {_native.human(e.held_bytes)}" for e in entries)


def _release_orphans(watching: Watcher, dry_run: bool) -> Step:
    title = "Gradients that keep their Parameters"
    with _native.LiveObjects() as live:
        suspected = bool(gradients_with_graph(live))
    # The snapshot comes between: the list of all would hold everything.
    heap = take_snapshot(watching) if suspected else None
    with _native.LiveObjects() as live:
        orphans = orphaned_gradients(heap, live) if heap is not None else []
    if dry_run or not orphans:
        return Step(title, f"{len(orphans)} that no name reaches" if orphans else "none")
    return _measured(title, f"{len(orphans)} that no name reached", lambda: drop(orphans))


def _collect_cycles(watching: Watcher, dry_run: bool) -> Step:
    title = "Garbage cycles"
    if dry_run:
        return Step(title, "unknown until they are collected")
    before = read_counters()
    found = gc.collect()
    return Step(title, f"{found} unreachable objects", returned(before, read_counters()))


def _empty_framework_caches(watching: Watcher, dry_run: bool) -> Step:
    title, freed = "Caches of frameworks", dict[str, int]()
    backends = {name: sys.modules.get(f"torch.{name}") for name in ("cuda", "xpu", "mps")}
    for name, backend in backends.items():
        ready = getattr(backend, "is_initialized", lambda: False)
        if backend is None or not ready() or not hasattr(backend, "memory_reserved"):
            continue
        before = backend.memory_reserved()
        kept = before - backend.memory_allocated()
        if not dry_run:
            backend.empty_cache()
            kept = before - backend.memory_reserved()
        freed[name] = kept
    return Step(title, "torch's" if freed else "none is in use", freed)


def _trim_heap(watching: Watcher, dry_run: bool) -> Step:
    title = "Free pages of the C heap"
    try:
        free = _native.heap().free_bytes
        if dry_run:
            return Step(title, f"up to {_native.human(free)}")
        return Step(title, f"{_native.human(free)} were free", {"system": _native.trim_heap()})
    except _native.MonitorError as error:
        return Step(title, str(error))
