"""Says that a search takes long, and how far it is."""

from __future__ import annotations

from collections.abc import Callable

from xleak.originals import time

# What takes less is not worth a bar; more often nobody looks.
BETWEEN_SECONDS = 0.25

Tell = Callable[[float | None], object]


class Progress:
    """Of one search; tells after 250 ms, and then at most 4 times a second."""

    def __init__(self, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._last = clock()
        self.told = False

    def at(self, share: float | None) -> None:
        """It is so far; None: nobody knows."""
        now = self._clock()
        if now - self._last >= BETWEEN_SECONDS:
            self._last, self.told = now, True
            self._tell(share)

    def goes_on(self) -> bool:
        """For what asks whether it is to stop."""
        self.at(None)
        return False
