"""The counters that are read at every step: of torch, of the C heap, of devices."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from xleak import _native
from xleak.shell import readings, tensors

# What is dear is read less often, so that it takes no more than this part of the time.
_SHARE = 1 / 500
# So much is never dear while it is asked for a few hundred times in all.
_CHEAP_SECONDS = 2e-3
# Readings, at least, while the number of steps doubles: from them growth is told in a short loop too.
_A_DOUBLING = 16

Value = TypeVar("Value")

HOST = "tensors on the host"
HEAP = "the C heap"


@dataclass(frozen=True)
class Use:
    """What a scope did to one memory, in bytes; None is unknown."""

    kept_bytes: int | None
    peak_bytes: int | None
    """The most that was in use at once, what was there before included."""


class Dear(Generic[Value]):
    """A counter that may take long: glibc walks its free lists, a device's is a call into its driver.
    By the time of the processor: a machine that has more to do makes nothing dearer."""

    def __init__(self, read: Callable[[], Value]) -> None:
        self._read = read
        self._is_first = True
        self._seconds = 0.0
        self._not_before = 0.0

    def now(self) -> Value:
        """Whatever it takes."""
        began = time.thread_time()
        value = self._read()
        ended = time.thread_time()
        # The first one has much to set up, and says nothing of the next.
        self._seconds = 0.0 if self._is_first else ended - began
        self._is_first = False
        self._not_before = ended + self._seconds / _SHARE
        return value

    def at(self, step: int) -> Value | None:
        """None where the last reading was too dear for another one yet."""
        apart = max(1, (1 << step.bit_length() - 1) // _A_DOUBLING)
        due = step % apart == 0 and self._seconds < _CHEAP_SECONDS
        return self.now() if due or time.thread_time() >= self._not_before else None


def heap_bytes() -> int | None:
    """What malloc has handed out; None where it is not glibc's own."""
    try:
        return _native.heap().used_bytes
    except _native.MonitorError:
        return None


def tensor_counter() -> Callable[[], int] | None:
    """What tells the bytes of tensors on the host; None where nobody counts them."""
    if not tensors.counted():
        return None
    from xleak import _torch

    return _torch.live_bytes


def device_bytes() -> dict[str, int]:
    """What is allocated on each device that is in use."""
    found = readings.device_readings()
    return {it.device: it.allocated for it in found if it.allocated is not None}


class Counters:
    """What is in use, by the name of the memory."""

    def __init__(self) -> None:
        self._heap = Dear(heap_bytes)
        self._allocators = Dear(self._allocated)
        self._tensors: Callable[[], int] | None = None

    def at(self, step: int) -> dict[str, int]:
        """Those that cost little now; step: how many there were, from 1."""
        return _known(self._allocators.at(step) or {}, self._heap.at(step))

    def all(self) -> dict[str, int]:
        """All that are known."""
        return _known(self._allocators.now(), self._heap.now())

    def _allocated(self) -> dict[str, int | None]:
        return {HOST: self._tensor_bytes(), **device_bytes()}

    def _tensor_bytes(self) -> int | None:
        # Each step asks, and torch may be imported at any of them.
        if self._tensors is None and "torch" in sys.modules:
            self._tensors = tensor_counter()
        return None if self._tensors is None else self._tensors()


def _known(allocated: dict[str, int | None], heap: int | None) -> dict[str, int]:
    found = {**allocated, HEAP: heap}
    return {name: value for name, value in found.items() if value is not None}
