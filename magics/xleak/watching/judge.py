"""Judges from the counters of each step whether memory leaks, and has the heap looked at only then."""

from __future__ import annotations

import sys

from xleak.originals import time
from xleak.watching.births import Births
from xleak.watching.causes import find_causes
from xleak.watching.counters import HEAP, HOST
from xleak.watching.leak import Leak
from xleak.watching.marks import Mark, take_mark
from xleak.watching.series import Growth, Series

# In the end, less is not worth a line, and what libraries do for themselves stays below it.
LEAST_BYTES = 1 << 20
# While it goes on, what is filled and then stays may look the same: only what ends sessions is told.
LEAST_BYTES_ON_THE_WAY = 16 << 20
_CHECKS = 3
# A history of Python's numbers grows by less with every step.
_LEAST_PER_STEP = 64
# From here on it is worth the first look.
_SUSPECT_BYTES = 64 << 10
_FIRST_CHECKS = (8, 16, 32, 64)
# Looks may take this share of the time, the first one aside.
_LOOKS_SHARE = 0.001
# Within fewer steps nothing is seen to grow.
_LEAST_STEPS = 4


class Judge:
    """Of one loop, or of the calls of one block or function. step_name: what a step is."""

    def __init__(self, label: str, step_name: str, every: int) -> None:
        self.steps = 0
        self._label = label
        self._step_name = step_name
        self._every = every
        self._series: dict[str, Series] = {}
        self._made = Series()
        self._older_freed = Series()
        self._mark: Mark | None = None
        self._births: Births | None = None
        self._rising_checks = 0
        self._next_check = self._check_after(0)
        self._told = False
        self._began = time.monotonic()
        self._looked_seconds = 0.0

    def step(self, values: dict[str, int]) -> list[Leak]:
        """Takes what is in use after a step; returns what is to be told on the way."""
        self.steps += 1
        return self.look(values)

    def look(self, values: dict[str, int], older_freed: int = 0) -> list[Leak]:
        """The same where `steps` has been counted; none is needed before next_step. older_freed: bytes
        of tensors on the host that were made before the first step and are freed by now."""
        self._add(values, older_freed)
        if self._births is not None:
            self._births.step(self.steps)
        if self.steps < self._next_check:
            return []
        leaks = self._check()
        self._next_check = self._check_after(self.steps)
        return leaks

    @property
    def next_step(self) -> int:
        """The first step at which look() has something to do beside adding."""
        return min(self._next_check, self._births.next_step) if self._births else self._next_check

    def _check_after(self, step: int) -> int:
        # The check that may tell comes sooner than those before it.
        last = self._rising_checks >= _CHECKS - 1
        every = max(1, self._every // 2) if last else self._every
        first = min((it for it in _FIRST_CHECKS if it > step), default=sys.maxsize)
        return min(first, (step // every + 1) * every)

    def end(self, values: dict[str, int] | None, older_freed: int = 0) -> list[Leak]:
        """No step comes any more. values: after the last one; None where that is not to be judged."""
        if self._births is not None:
            self._births.stop()
        if values is None or self._told or self.steps == 0:
            return []
        self._add(values, older_freed)
        return self._leaks(LEAST_BYTES)

    def _add(self, values: dict[str, int], older_freed: int) -> None:
        if HOST in values:
            self._made.add(self.steps, values[HOST] + older_freed)
            self._older_freed.add(self.steps, older_freed)
        for name, value in values.items():
            # Tensors on the host lie in the C heap and are a series of their own: by the few readings of
            # the heap, tensors that have levelled off would seem to grow.
            tensors = values.get(HOST, 0) if name == HEAP else 0
            self._series.setdefault(name, Series()).add(self.steps, value - tensors)

    def _check(self) -> list[Leak]:
        grown = self._grown(_SUSPECT_BYTES)
        if not grown:
            self._rising_checks, self._mark = 0, None
            return []
        if self._mark is None and self._may_look():
            began = time.monotonic()
            self._mark = take_mark(self.steps)
            self._births = self._births or Births(self.steps)
            self._looked_seconds += time.monotonic() - began
        large = any(it.bytes >= LEAST_BYTES_ON_THE_WAY for it in grown.values())
        # What starts up grows too: the first checks are for the first look alone.
        counts = large and self.steps >= self._every
        self._rising_checks = self._rising_checks + counts if large else 0
        if self._rising_checks < _CHECKS or self._told:
            return []
        return self._leaks(LEAST_BYTES_ON_THE_WAY)

    def _may_look(self) -> bool:
        return self._looked_seconds <= _LOOKS_SHARE * (time.monotonic() - self._began)

    def _grown(self, least_bytes: int) -> dict[str, Growth]:
        found = {name: series.growth() for name, series in self._series.items()}
        # A collection that frees what was there before the loop hides nothing that the steps add. Where
        # each step frees some of it, the steps replace it.
        if HOST in found and found[HOST] is None and self._older_freed.growth() is None:
            found[HOST] = self._made.growth()
        return {
            name: it
            for name, it in found.items()
            if it is not None and it.bytes >= least_bytes and it.per_step >= _LEAST_PER_STEP
        }

    def _leaks(self, least_bytes: int) -> list[Leak]:
        grown = self._grown(least_bytes)
        # What tensors take beside their storages belongs to the same leak.
        if HOST in grown and HEAP in grown and grown[HEAP].per_step < grown[HOST].per_step:
            del grown[HEAP]
        leaks = [leak for name, it in grown.items() if (leak := self._leak(name, it))]
        self._told = self._told or bool(leaks)
        return leaks

    def _leak(self, memory: str, growth: Growth) -> Leak | None:
        mark = self._mark
        if mark is not None and self.steps - mark.step < _LEAST_STEPS:
            mark = None
        since = self.steps - mark.step if mark else growth.steps
        causes = find_causes(self.steps, round(growth.per_step * since), mark)
        if causes is None:
            return None
        return Leak(
            self._label,
            memory,
            growth.bytes,
            growth.per_step,
            growth.since_step,
            growth.steps,
            self._step_name,
            None,
            causes,
            self._births.places(self.steps) if self._births else [],
        )
