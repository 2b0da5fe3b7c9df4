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
        if self._in_cells is not None:
            signal.signal(signal.SIGINT, self._in_cells)

    def forbid(self) -> None:
        """Can be interrupted itself, and then be called again."""
        current = signal.getsignal(signal.SIGINT)
        if current is _nothing_to_stop:
            return
        # None: a handler that C code installed. Python can neither keep nor restore it.
        self._in_cells = current
        if current is signal.default_int_handler or current is signal.SIG_DFL:
            signal.signal(signal.SIGINT, _nothing_to_stop)
