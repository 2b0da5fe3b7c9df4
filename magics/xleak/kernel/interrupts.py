"""Who gets SIGINT: the cell that runs, and nobody between cells."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


def _nothing_to_stop(signum: int, frame: FrameType | None) -> None:
    """Between cells. A handler and not SIG_IGN, which programs started meanwhile would inherit."""


class Interrupts:
    """Swaps the handler of SIGINT around cells. A handler of the user's own stays between cells too."""

    def __init__(self) -> None:
        self._in_cells: Any = signal.default_int_handler
        signal.signal(signal.SIGINT, _nothing_to_stop)

    def allow(self) -> None:
        signal.signal(signal.SIGINT, self._in_cells)

    def forbid(self) -> None:
        """Never raises: an interrupt that comes in here is one that came too late."""
        while True:
            try:
                current = signal.getsignal(signal.SIGINT)
                if current is not _nothing_to_stop:
                    self._in_cells = current
                if current is signal.default_int_handler:
                    signal.signal(signal.SIGINT, _nothing_to_stop)
                return
            except KeyboardInterrupt:
                continue
