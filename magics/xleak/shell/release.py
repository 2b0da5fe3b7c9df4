"""Gives the memory of values back: what a name, or an output entry, and the shell keep of them."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.caches import DISPLAY_HOOK, HIDDEN, LAST_RESULT, OutputCaches
from xleak.shell.counters import read_counters, returned
from xleak.shell.forgetting import Plan, make_plan
from xleak.shell.heap import take_snapshot
from xleak.shell.tracebacks import drop_last_errors
from xleak.shell.watcher import Watcher, watcher

# Python refuses to read a number of thousands of digits.
_ENTRY = re.compile(r"(?:Out|_oh)\[(\d{1,100})\]|_(\d{1,100})")
# The shell's own references to what Out has; nobody misses them.
_WITHIN_THE_SHELL = (HIDDEN, DISPLAY_HOOK, LAST_RESULT)
GARBAGE = "garbage cycles"
# In place of what has gone meanwhile.
_GONE = object()
# Every cell leaves a little.
_WORTH_NOTING_BYTES = 64 << 10


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


def forget(
    *targets: str,
    dry_run: bool = False,
    by_name_only: bool = False,
    heap: _native.HeapSnapshot | None = None,
) -> ForgetResult:
    """Deletes names, or output entries, and every hidden reference of the shell to their values.

    targets: a name each, or ``Out[n]``, which never touches a name. by_name_only: IPython's
    ``%xdel -n``. heap: as it is now, where the caller has looked already.
    Other names of the user's for a value stay and are listed. Raises ValueError with one sentence
    where there is nothing of that name, RuntimeError where xleak is not loaded.
    """
    watching = current_watcher()
    if by_name_only:
        return _forget_names_only(watching, targets, dry_run)
    _found(watching, targets)
    # Before the values are looked at, which would be one more reference to them.
    heap = heap or take_snapshot(watching)
    assert heap is not None  # Nothing interrupts it.
    objects: list[Any] = []
    named: dict[str, int] = {}
    for value, name in _found(watching, targets):
        objects += [] if any(value is known for known in objects) else [value]
        if name is not None:
            named[name] = id(value)
        del value
    plan = make_plan(watching, heap, objects, list(named))
    del objects
    title, unknown = " ".join(targets), plan.expected.get("unknown", 0)
    if dry_run:
        would = {owner: size for owner, size in plan.expected.items() if owner != "unknown"}
        return ForgetResult(title, plan.dropped, would, unknown, plan.holders, True)
    freed = _carry_out(watching, plan, named)
    gone = [it for it in plan.dropped if it not in _WITHIN_THE_SHELL and not _is_copy(it)]
    watching.journal.add("you", ", ".join(gone) or title, "%xdel", freed)
    watching.refresh()
    return ForgetResult(title, plan.dropped, freed, unknown, plan.holders, False)


def current_watcher() -> Watcher:
    """The one of this process. Raises RuntimeError where xleak is not loaded."""
    current = watcher()
    if current is None:
        raise RuntimeError("xleak does not watch this session. Load it with %load_ext xleak")
    return current


# --- one value -------------------------------------------------------------------------------


def _is_copy(label: str) -> bool:
    """Whether it is one of the shell's own names for what Out has."""
    return OutputCaches.is_cache_key(label)


def _found(watching: Watcher, targets: tuple[str, ...]) -> list[tuple[Any, str | None]]:
    """Of each target the value, and the user's name for it, None for an entry of the cache."""
    names = _native.entries_of(watching.shell.user_ns)
    cached = watching.caches.cached(scalars=True)
    user_ns = watching.shell.user_ns
    own = {key for place, key, *_ in cached if place is user_ns}
    shown = watching.caches.values(cached, scalars=True)
    return [_find(watching, target, names, own, shown) for target in targets]


def _find(
    watching: Watcher, target: str, names: dict[Any, Any], cached: set[str], shown: dict[int, Any]
) -> tuple[Any, str | None]:
    entry = _ENTRY.fullmatch(target)
    if entry and not (target in names and target not in cached):
        number = int(entry.group(1) or entry.group(2))
        try:
            return shown[number], None
        except KeyError:
            raise ValueError(f"Out[{number}] is not kept: nothing to delete") from None
    if not target.isidentifier():
        raise ValueError(f"%xdel takes one variable name or Out[n], got {target!r}")
    if target not in names:
        raise ValueError(f"name {target!r} is not defined: nothing to delete")
    if target in cached:
        return names[target], None
    if target in watching.shell.user_ns_hidden or target == "__builtins__":
        raise ValueError(f"{target!r} belongs to the shell and stays")
    return names[target], target


def _carry_out(watching: Watcher, plan: Plan, named: dict[str, int]) -> dict[str, int]:
    """named: the ids of what the names stood for. Raises ValueError where a thread gave one another value."""
    if plan.waits:
        collect_garbage(watching, "%xdel")
    user_ns = watching.shell.user_ns
    for name, known in named.items():
        if id(user_ns.get(name, _GONE)) != known:
            raise ValueError(
                f"{name!r} was changed while its value was looked for: nothing is deleted"
            )
    before = read_counters()
    ids = {id(value) for value in plan.objects}
    if plan.drops_traceback:
        drop_last_errors(watching.shell)
    watching.caches.drop(lambda value: id(value) in ids)
    now = {name: id(value) for name, value in _native.entries_of(user_ns).items()}
    for name in [*watching.tool_names(), *plan.names]:
        # A thread may have given it another value by now.
        if now.get(name) in ids:
            user_ns.pop(name, None)
    plan.objects.clear()
    if plan.waits:
        _native.in_sight(gc.collect)
    return returned(before, read_counters())


def collect_garbage(watching: Watcher, why: str) -> None:
    """Collects the garbage that is there already, so that it is not counted with what is released."""
    before = read_counters()
    _native.in_sight(gc.collect)
    freed = returned(before, read_counters())
    if sum(freed.values()) >= _WORTH_NOTING_BYTES:
        watching.journal.add("you", GARBAGE, f"{why} ran the collector", freed)


def _forget_names_only(watching: Watcher, names: tuple[str, ...], dry_run: bool) -> ForgetResult:
    for name in names:
        if name not in watching.shell.user_ns:
            raise ValueError(f"name {name!r} is not defined: nothing to delete")
    title, freed = ", ".join(names), dict[str, int]()
    if not dry_run:
        before = read_counters()
        for name in dict.fromkeys(names):
            # A thread may have taken it away by now.
            with contextlib.suppress(NameError):
                watching.shell.del_var(name, by_name=True)
        freed = returned(before, read_counters())
        watching.journal.add("you", title, "%xdel -n", freed)
        watching.refresh()
    return ForgetResult(title, list(names), freed, 0, [], dry_run)
