"""`xleak.Watcher`: what a loop keeps, step after step."""

from __future__ import annotations

import re
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from xleak.shell import readings
from xleak.shell.holders.look import may_be_released
from xleak.shell.settings import is_disabled
from xleak.watching import user_frames
from xleak.watching.baseline import Baseline, told
from xleak.watching.causes import find_causes
from xleak.watching.counters import HEAP, HOST, Counters, Use
from xleak.watching.judge import Judge
from xleak.watching.leak import Cause, Leak, LeakError, LeakWarning
from xleak.watching.marks import Mark, take_mark

OnLeak = Literal["warn", "raise", "quiet"]
_ON_LEAK = ("warn", "raise", "quiet")
_UNITS = {"B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?I?B)\s*", re.IGNORECASE)
_TENSORS_TOLD = 5

Result = TypeVar("Result")

_said_failure = False


def size_in_bytes(size: int | str) -> int:
    """1048576, "1MiB" or "1.5 GiB" in bytes. Raises ValueError for anything else."""
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found and found[2].upper() in _UNITS:
        return int(float(found[1]) * _UNITS[found[2].upper()])
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    raise ValueError(f"a size is a number of bytes or a text such as '1MiB', got {size!r}")


class Watcher:
    """Watches a loop: `step()` after each of its steps, `close()` after the last, or `with`.

    Says which memory grows with the steps and who keeps it, once there is more than a mebibyte of it
    at the end, or 16 MiB on the way. on_leak: "warn" (xleak.LeakWarning), "raise" (xleak.LeakError)
    or "quiet" (`leaks` alone has it). every: looks for growth each so many steps. max_kept: bytes, or
    a text such as "1MiB", that it may keep from its beginning to its end. Raises ValueError for
    another argument.
    """

    def __init__(
        self,
        label: str = "loop",
        *,
        every: int = 100,
        on_leak: OnLeak = "warn",
        max_kept: int | str | None = None,
    ) -> None:
        if on_leak not in _ON_LEAK:
            raise ValueError(f"on_leak is one of {', '.join(_ON_LEAK)}, got {on_leak!r}")
        if not isinstance(every, int) or every < 1:
            raise ValueError(f"every is a number of steps, 1 or more, got {every!r}")
        self.leaks: list[Leak] = []
        self.namespaces: list[dict[str, Any]] = []
        """Where names are looked for beside the functions that run."""
        self.devices: dict[str, Use] = {}
        """By device, "cuda:0"; empty until it is closed."""
        self._label = label
        self._on_leak = on_leak
        self._max_kept = None if max_kept is None else size_in_bytes(max_kept)
        self._judge = Judge(label, "step", every)
        self._counters = Counters()
        self._open = not is_disabled()
        self._next_look = 1
        self._scope = 0
        self._host: Use | None = None
        self._after: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._baseline: Baseline | None = None
        self._mark: Mark | None = None
        harmlessly(self._begin)

    def _begin(self) -> None:
        if not self._open:
            return
        if self._max_kept is not None:
            self._baseline, self._mark = Baseline(), take_mark(0)
        self._before = self._counters.all()
        if HOST in self._before:
            from xleak import _torch

            self._scope = _torch.begin_scope()
            readings.begin_device_cell(-self._scope)
            self._end_scope = weakref.finalize(self, _end_scope, self._scope)
        elif "torch" not in sys.modules:
            # There are no tensors yet.
            self._before[HOST] = 0

    # --- what a loop calls -------------------------------------------------------------------

    def step(self) -> None:
        """A step of the loop is over. Raises LeakError where that was asked for."""
        # A step has this code in no cache: the less of it runs, the better.
        if self._open:
            self._judge.steps += 1
            if self._judge.steps >= self._next_look:
                self._tell(harmlessly(self._look) or [])

    def close(self) -> None:
        """The loop is over; a second call does nothing. Raises LeakError where that was asked for."""
        self._tell(harmlessly(lambda: self._finish(judged=True)) or [])

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self.close()
        else:
            # A traceback keeps what it went through.
            harmlessly(lambda: self._finish(judged=False))

    # --- what it did -------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        """How many steps there were."""
        return self._judge.steps

    @property
    def kept_bytes(self) -> int | None:
        """What tensors on the host take more than at the beginning, until now or the end; where no
        tensors are counted the same of the C heap. None where neither is known."""
        host = self._host_use()
        return self.heap_kept_bytes if host is None else host.kept_bytes

    @property
    def peak_bytes(self) -> int | None:
        """The most that tensors on the host took at once, those from before included. None where they
        are not counted."""
        host = self._host_use()
        return None if host is None else host.peak_bytes

    @property
    def heap_kept_bytes(self) -> int | None:
        """What malloc has handed out more than at the beginning, tensors on the host included. None
        where malloc is not glibc's own."""
        after = self._counters.all() if self._open else self._after
        return after[HEAP] - self._before[HEAP] if HEAP in after and HEAP in self._before else None

    def _host_use(self) -> Use | None:
        if not self._open:
            return self._host
        if not self._scope:
            return None
        from xleak import _torch

        use = _torch.scope_use(self._scope)
        return Use(use[0], use[1]) if use else None

    def _older_freed(self) -> int:
        if not self._scope:
            return 0
        from xleak import _torch

        return _torch.older_freed_bytes(self._scope)

    def _look(self) -> list[Leak]:
        self._next_look = self.steps + 1
        leaks = self._judge.look(self._counters.at(self.steps), self._older_freed())
        self._next_look = min(self._counters.next_step, self._judge.next_step)
        return leaks

    # --- the end -----------------------------------------------------------------------------

    def _finish(self, judged: bool) -> list[Leak]:
        if not self._open:
            return []
        self._after = self._counters.all()
        older_freed = self._older_freed()
        self._host = self._host_use()
        if self._host is None and HOST in self._after and HOST in self._before:
            self._host = Use(self._after[HOST], None)
        self._open = False
        self._end_devices()
        leaks = self._judge.end(self._after if judged else None, older_freed)
        if judged and self._max_kept is not None:
            leaks += self._above(self._max_kept)
        return leaks

    def _end_devices(self) -> None:
        ended = readings.end_device_cell(-self._scope) if self._scope else []
        peaks = {it.device: it.cell_peak for it in ended}
        for device, after in self._after.items():
            if device not in (HOST, HEAP):
                kept = after - self._before.get(device, 0)
                self.devices[device] = Use(kept, peaks.get(device))
        if self._scope:
            self._end_scope()

    def _above(self, limit: int) -> list[Leak]:
        kept = {name: after - self._before.get(name, 0) for name, after in self._after.items()}
        heap = kept.pop(HEAP, 0) - kept.get(HOST, 0)
        above = {name: size for name, size in kept.items() if size > limit}
        causes = self._new_tensors() if above else []
        leaks = [self._kept(name, size, limit, causes) for name, size in above.items()]
        if heap > limit and self._mark is not None and HEAP in self._before:
            leaks += self._beside_tensors(heap, limit, self._mark)
        return leaks

    def _kept(self, memory: str, size: int, limit: int, causes: list[Cause]) -> Leak:
        return Leak(self._label, memory, size, None, None, 0, "step", limit, causes)

    def _beside_tensors(self, size: int, limit: int, mark: Mark) -> list[Leak]:
        """Libraries keep much for themselves when they are first used: only what a container of the
        user's got is told."""
        found = find_causes(1, size, mark, self.namespaces) or []
        causes = [it for it in found if it.bytes and may_be_released(it.holder)]
        size = sum(it.bytes or 0 for it in causes)
        return [self._kept(HEAP, size, limit, causes)] if size > limit else []

    def _new_tensors(self) -> list[Cause]:
        tensors = self._baseline.new_tensors(self.namespaces) if self._baseline else []
        size = sum(it.facts.bytes for it in tensors)
        lines = "\n    ".join(told(tensors, _TENSORS_TOLD))
        what = f"{len(tensors)} tensors that were made meanwhile are alive"
        return [Cause("tensors", "", what, len(tensors), size, lines)] if tensors else []

    def _tell(self, leaks: list[Leak]) -> None:
        self.leaks += leaks
        tell(leaks, self._on_leak, user_frames.place() if leaks else ("", 0))


def tell(leaks: list[Leak], on_leak: OnLeak, place: tuple[str, int]) -> None:
    """Warns at a file and a line, or raises LeakError, where there is something to tell."""
    if not leaks:
        return
    message = "\n".join(leak.message() for leak in leaks)
    if on_leak == "raise":
        raise LeakError(message, leaks)
    if on_leak == "warn":
        warnings.warn_explicit(message, LeakWarning, *place)


def _end_scope(scope: int) -> None:
    from xleak import _torch

    readings.end_device_cell(-scope)
    _torch.end_scope(scope)


def harmlessly(action: Callable[[], Result]) -> Result | None:
    """A failure of xleak is said once and never fails the code that it watches."""
    global _said_failure
    try:
        return action()
    except Exception as error:
        if not _said_failure:
            _said_failure = True
            kind = type(error).__name__
            print(
                f"xleak failed here ({kind}: {error}). The code runs on unwatched.", file=sys.stderr
            )
        return None
