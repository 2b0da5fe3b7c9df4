"""How each kind of finding is released: by what was measured alone, and so that no code notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.agent.noticed import collector_is_the_users, live_objects, would_be_noticed
from xleak.agent.promised import Promised
from xleak.originals import gc
from xleak.shell.caches import UNDERSCORES
from xleak.shell.counters import read_counters, returned
from xleak.shell.heap import take_snapshot
from xleak.shell.readings import device_readings
from xleak.shell.taken_out import TakenOut
from xleak.shell.tracebacks import LAST_TRACEBACK, drop_last_errors, last_exceptions

if TYPE_CHECKING:
    from xleak.shell.watcher import Interrupted, Watcher

# Of more entries at once, some of which code would notice, only the largest are looked at one by one.
_ONE_BY_ONE = 20


@dataclass
class Release:
    """What went. freed: bytes by allocator; kept: what undo puts back, with about so many bytes."""

    findings: list[_native.Finding]
    freed: dict[str, int]
    kept: TakenOut | None = None
    kept_bytes: int = 0


# (findings, whether to stop): does it, at once. What code would notice, or what is in use by now, it leaves.
Act = Callable[[Sequence[_native.Finding], "Interrupted"], list[Release]]


class Releases:
    """Acts by kind of finding, for one shell."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._promised = Promised(watcher.shell)

    def kinds(self) -> list[tuple[tuple[str, ...], str, Act]]:
        """(codes of rules, why it may go, what releases it), in the order in which it is done."""
        return [
            (("XL402",), "the error is over and nothing else reaches its frames", self._traceback),
            (("XL401",), "no name reaches it and no cell mentions it", self._outputs),
            (("XL106", "XL113", "XL210"), "only its own cycle reaches it", self._garbage),
            (("XL601",), "nearly all tensors there are gone and nothing runs", _device_caches),
            (("XL630",), "its objects are gone", _free_heap),
        ]

    # --- one kind each -----------------------------------------------------------------------

    def _traceback(
        self, findings: Sequence[_native.Finding], interrupted: Interrupted
    ) -> list[Release]:
        shell, record = self._watcher.shell, _native.latest_record()
        # Right after an error %debug and %tb may still want it.
        if record is None or record.status != "ok" or self._promised.last_error():
            return []
        heap = take_snapshot(self._watcher, interrupted=interrupted)
        if heap is None or would_be_noticed(heap.kept_by([LAST_TRACEBACK], live_objects())):
            return []
        # Exceptions that are reached otherwise keep their frames.
        if any(heap.ways_besides(it, [LAST_TRACEBACK], 1) for it in last_exceptions(shell)):
            return []
        before = read_counters()
        drop_last_errors(shell)
        # What printed the traceback leaves its frames in garbage cycles.
        self._collect(interrupted)
        return [Release(list(findings), returned(before, read_counters()))]

    def _outputs(
        self, findings: Sequence[_native.Finding], interrupted: Interrupted
    ) -> list[Release]:
        caches = self._watcher.caches
        numbers = {f"Out[{entry.number}]": entry.number for entry in self._watcher.outputs}
        free = self._free()
        orphans = [it for it in findings if it.key in numbers and numbers[it.key] in free]
        heap = take_snapshot(self._watcher, interrupted=interrupted) if orphans else None
        if heap is None:
            return []
        keep = self._watcher.settings.keep_undo > 0
        done = []
        for finding in _unnoticed(heap, orphans):
            if numbers[finding.key] not in caches.entries():
                continue  # It had the value of the one before.
            before = read_counters()
            taken = TakenOut(caches, numbers[finding.key])
            kept = taken if keep else None
            del taken
            freed = {} if keep else returned(before, read_counters())
            done.append(Release([finding], freed, kept, finding.bytes or 0 if keep else 0))
        return done

    def _free(self) -> set[int]:
        """The entries that no cell mentions, where `_`, `__` and `___` mean another, for IPython too."""
        caches = self._watcher.caches
        hook = vars(caches.shell.displayhook)
        promised = {id(it) for n, it in caches.entries().items() if self._promised.output(n)}
        in_use = promised | caches.recent() | {id(hook.get(name)) for name in UNDERSCORES}
        return {
            n
            for n, value in caches.values(scalars=True).items()
            if value is not None and id(value) not in in_use and not self._promised.output(n)
        }

    def _garbage(
        self, findings: Sequence[_native.Finding], interrupted: Interrupted
    ) -> list[Release]:
        before = read_counters()
        if not self._collect(interrupted):
            return []
        return [Release(list(findings), returned(before, read_counters()))]

    def _collect(self, interrupted: Interrupted) -> bool:
        """Whether the collector ran: it takes all garbage, whatever it was called for."""
        if collector_is_the_users():
            return False
        heap = take_snapshot(self._watcher, interrupted=interrupted)
        if heap is None or would_be_noticed(heap.garbage(live_objects())):
            return False
        _native.in_sight(gc.collect)
        return True


def _unnoticed(heap: _native.HeapSnapshot, orphans: list[_native.Finding]) -> list[_native.Finding]:
    """Those whose end no code can tell, together or else one by one."""
    if not would_be_noticed(heap.kept_by([it.key for it in orphans], live_objects())):
        return orphans
    quiet = [
        it
        for it in orphans[:_ONE_BY_ONE]
        if not would_be_noticed(heap.kept_by([it.key], live_objects()))
    ]
    together = heap.kept_by([it.key for it in quiet], live_objects())
    return [] if would_be_noticed(together) else quiet


def _device_caches(findings: Sequence[_native.Finding], interrupted: Interrupted) -> list[Release]:
    """Segments of torch's caches that are wholly free, on devices with nothing to do."""
    wanted = {it.key.removeprefix("cache of ") for it in findings}
    before = {it.device: it.reserved for it in device_readings() if it.reserved is not None}
    backends = [_native.fields_of_module(f"torch.{name.partition(':')[0]}") for name in wanted]
    for backend in {id(it): it for it in backends if "empty_cache" in it}.values():
        if all(_rests(backend, name) for name in before):
            backend["empty_cache"]()
    now = {it.device: it.reserved for it in device_readings() if it.reserved is not None}
    freed = {name: size - now[name] for name, size in before.items() if now.get(name, size) < size}
    return [Release(list(findings), freed)] if freed else []


def _rests(backend: dict[str, Any], device: str) -> bool:
    """Whether all that was asked of a device is done, and no graph of it is being recorded."""
    if not backend["current_stream"](device).query():
        return False
    return not backend.get("is_current_stream_capturing", lambda: False)()


def _free_heap(findings: Sequence[_native.Finding], interrupted: Interrupted) -> list[Release]:
    came = _native.trim_heap()
    return [Release(list(findings), {"system": came})] if came > 0 else []
