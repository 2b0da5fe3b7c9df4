"""SIGINT stops the user's code, wherever it runs, and never the lines of the kernel around it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable
from types import CodeType, FrameType, TracebackType
from typing import Any

# What asyncio calls to let a task go on, at once or once what it waits for is there.
_STEPS = ("TaskStepMethWrapper", "builtin_function_or_method")


class Interrupts:
    """The handler of SIGINT. One that the user installs takes its place, between cells too."""

    def __init__(self, loop: asyncio.AbstractEventLoop, regions: Iterable[CodeType]) -> None:
        """`regions`: the functions under which all is the user's code and KeyboardInterrupt is caught."""
        self._loop = loop
        self._regions = {asyncio.Handle._run.__code__, *regions}
        self._cell: asyncio.Task[Any] | None = None
        self._late = False
        signal.signal(signal.SIGINT, self._handle)

    def allow(self, cell: asyncio.Task[Any]) -> None:
        """From here on an interrupt stops `cell`, or the task or callback that it waits for."""
        self._late, self._cell = False, cell

    def forbid(self) -> None:
        """From here on an interrupt stops nothing. May be called again where a handler raised."""
        self._cell = None
        current = signal.getsignal(signal.SIGINT)
        # The default would end an idle kernel.
        if current is signal.default_int_handler or current is signal.SIG_DFL:
            signal.signal(signal.SIGINT, self._handle)

    def raise_late(self) -> None:
        """Called right before the user's code: raises what came while the cell was being prepared."""
        if self._late:
            self._late = False
            raise KeyboardInterrupt

    def leave_out(self, trace: TracebackType | None) -> None:
        """Takes the frames of this class off the end of a traceback."""
        own = {Interrupts._handle.__code__, Interrupts.raise_late.__code__}
        while trace is not None and trace.tb_next is not None:
            if trace.tb_next.tb_frame.f_code in own:
                trace.tb_next = None
            trace = trace.tb_next

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self._cell is None:
            return
        in_cell = asyncio.current_task(self._loop) is self._cell
        if self._runs_user_code(frame, in_cell):
            raise KeyboardInterrupt
        self._late = True
        if not in_cell:
            self._loop.call_soon_threadsafe(self._cell.cancel, "interrupted")

    def _runs_user_code(self, frame: FrameType | None, in_cell: bool) -> bool:
        if frame is not None and _is_before_a_step(frame):
            return False
        while frame is not None:
            code = frame.f_code
            if code in self._regions:
                # The cell's own task is plumbing until it comes to one of the other regions.
                return not (in_cell and code is asyncio.Handle._run.__code__)
            frame = frame.f_back
        return False


def _is_before_a_step(frame: FrameType) -> bool:
    """Whether asyncio took a task's next step off its list and none of the task's code runs yet, or no
    longer: what is raised there loses the step, and the task never ends."""
    if frame.f_code is not asyncio.Handle._run.__code__:
        return False
    step = vars(asyncio.Handle)["_callback"].__get__(frame.f_locals["self"])
    return type(step).__name__ in _STEPS and isinstance(step.__self__, asyncio.Task)
