"""The counters that are read as the steps go by: of torch, of the C heap, of devices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from xleak import _native
from xleak.originals import time
from xleak.shell import readings, tensors

# The part of the time that one counter's readings may take.
_SHARE = 1 / 2000
# So much is never dear while it is asked for a few hundred times in all.
_CHEAP_SECONDS = 5e-4
# Readings, about, while the number of steps doubles: from them growth is told in a short loop too.
_A_DOUBLING = 16
# Of a rhythm in the loop, readings at even distances may show a slow rise that is none. The golden ratio's
# multiples are spread evenly and repeat no pattern.
_GOLDEN = 0.618034

Value = TypeVar("Value")

HOST = "tensors on the host"
HEAP = "the C heap"


@dataclass(frozen=True)
class Use:
    """What a scope did to one memory, in bytes; None is unknown."""

    kept_bytes: int | None
    peak_bytes: int | None
    """The most that was in use at once, what was there before included."""


class Sampled(Generic[Value]):
    """A counter that is read at some of the steps. It may take long: glibc walks its free lists, a
    device's is a call into its driver. By the time of the processor: a machine that has more to do makes
    nothing dearer."""

    def __init__(self, read: Callable[[], Value]) -> None:
        self.now = read
        """The value, whatever it takes."""
        self.next_step = 1
        self._step = 0
        self._ended = 0.0
        self._seconds = math.inf
        self._golden = 0.0

    def at(self, step: int) -> Value | None:
        """The value; None at a step at which it is not read."""
        if step < self.next_step:
            return None
        began = time.thread_time()
        value = self.now()
        ended = time.thread_time()
        # The clock is that of one thread, and another one may take the next step.
        per_step = max(0.0, began - self._ended) / (step - self._step)
        # One alone may have been interrupted: what a counter takes, it takes twice.
        apart = self._apart(step, min(ended - began, self._seconds), per_step)
        self._seconds = ended - began
        self._golden = (self._golden + _GOLDEN) % 1
        self._step, self._ended = step, ended
        self.next_step = step + max(1, round(apart * (0.5 + self._golden)))
        return value

    def _apart(self, step: int, seconds: float, per_step: float) -> float:
        """How many steps, on average, until the next reading."""
        few = step if seconds > _CHEAP_SECONDS else step / _A_DOUBLING
        return min(few, seconds / _SHARE / per_step) if per_step else few


def heap_bytes() -> int | None:
    """What malloc has handed out; None where it is not glibc's own."""
    try:
        return _native.heap().used_bytes
    except _native.MonitorError:
        return None


class _TensorBytes:
    """Called for the bytes of tensors on the host; None where nobody counts them."""

    def __init__(self) -> None:
        self._count: Callable[[], int] | None = None

    def __call__(self) -> int | None:
        # Torch may be imported at any step.
        if self._count is None and tensors.counted():
            from xleak import _torch

            self._count = _torch.live_bytes
        return None if self._count is None else self._count()


def device_bytes() -> dict[str, int]:
    """What is allocated on each device that is in use."""
    found = readings.device_readings()
    return {it.device: it.allocated for it in found if it.allocated is not None}


class Counters:
    """What is in use, by the name of the memory."""

    def __init__(self) -> None:
        self._tensors = Sampled(_TensorBytes())
        self._devices = Sampled(device_bytes)
        self._heap = Sampled(heap_bytes)

    @property
    def next_step(self) -> int:
        """The first step at which one is to be read again."""
        return min(it.next_step for it in (self._tensors, self._devices, self._heap))

    def at(self, step: int) -> dict[str, int]:
        """Those that are read at this step; step: how many there were, from 1. A reading of the C heap
        comes with one of the tensors in it."""
        tensors, heap = self._tensors.at(step), self._heap.at(step)
        if heap is not None and tensors is None:
            tensors = self._tensors.now()
        return _known(tensors, self._devices.at(step), heap)

    def all(self) -> dict[str, int]:
        """All that are known."""
        return _known(self._tensors.now(), self._devices.now(), self._heap.now())


def _known(tensors: int | None, devices: dict[str, int] | None, heap: int | None) -> dict[str, int]:
    found = {HOST: tensors, **(devices or {}), HEAP: heap}
    return {name: value for name, value in found.items() if value is not None}
