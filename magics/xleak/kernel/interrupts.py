"""SIGINT stops the user's code, wherever it runs, and never the lines of the kernel around it."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import asyncio
import signal
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, TracebackType
from typing import Any

from xleak import _native

# What asyncio calls to let a task go on, at once or once what it waits for is there.
_STEPS = ("TaskStepMethWrapper", "builtin_function_or_method")


class Interrupts:
    """The handler of SIGINT. One that the user installs takes its place, between cells too."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        regions: Iterable[CodeType],
        is_forking: Callable[[], bool] = lambda: False,
        look_again: Callable[[], object] = lambda: None,
    ) -> None:
        """`regions`: the functions under which all is the user's code and KeyboardInterrupt is caught. `is_forking`:
        whether Python's hooks around a fork run. `look_again` has looked() called a moment later."""
        self._loop = loop
        self._is_forking = is_forking
        self._look_again = look_again
        self._regions = {asyncio.Handle._run.__code__, *regions}
        self._cell: asyncio.Task[Any] | None = None
        self._expected = False
        self._begun = False
        self._late = False
        self._again = False
        signal.signal(signal.SIGINT, self._handle)

    def expect(self) -> None:
        """From here on an interrupt is meant for the cell that comes, though nothing of it runs yet."""
        self._late = self._begun = self._again = False
        self._expected = True

    def allow(self, cell: asyncio.Task[Any]) -> None:
        """From here on an interrupt stops `cell`, or the task or callback that it waits for."""
        self._cell, self._expected = cell, True

    def forbid(self) -> None:
        """From here on an interrupt stops nothing. May be called again where a handler raised."""
        self._cell, self._expected = None, False
        self._late = self._again = False
        # signal.getsignal() makes a member of an enumeration of each answer: 5 of the microseconds before each reply.
        current = _signal.getsignal(signal.SIGINT)
        # The default would end an idle kernel.
        if current is _signal.default_int_handler or current is _signal.SIG_DFL:
            signal.signal(signal.SIGINT, self._handle)

    @_native.out_of_sight
    def raise_late(self) -> None:
        """Called right before the user's code: raises what came while the cell was being prepared."""
        late, self._late, self._begun = self._late, False, True
        if late:
            raise KeyboardInterrupt

    def cancel(self, cell: asyncio.Task[Any]) -> None:
        """Stops `cell` where it waits. Before raise_late() it waits nowhere; a task that is cancelled before its first
        step would have no number and no place in the history."""
        if self._cell is cell and self._begun:
            cell.cancel("interrupted")

    def looked(self, frame: FrameType | None) -> None:
        """Called a moment after a signal: what could not be raised where it came may be raised here."""
        if self._again:
            self._again = False
            self._handle(signal.SIGINT, frame)

    def leave_out(self, trace: TracebackType | None, caller: CodeType) -> None:
        """Takes the frames of this class, and of the caller of raise_late(), off the end of a traceback."""
        methods = (Interrupts._handle, Interrupts.looked, Interrupts.raise_late)
        own = {caller, *(method.__code__ for method in methods)}
        while trace is not None and trace.tb_next is not None:
            if trace.tb_next.tb_frame.f_code in own:
                trace.tb_next = None
            trace = trace.tb_next

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if not self._expected:
            return
        # Python drops what is raised in a hook. Who presses a second time is not asked to wait.
        if not self._again and (self._is_forking() or _starts_a_program(frame)):
            self._again = True
            self._look_again()
            return
        self._again = False
        cell = self._cell
        in_cell = cell is not None and asyncio.current_task(self._loop) is cell
        if cell is not None and self._runs_user_code(frame, in_cell):
            # Before the cell's own lines it stops a callback, or another task: these are still to be stopped.
            self._late = not self._begun
            raise KeyboardInterrupt
        self._late = True
        if cell is not None and not in_cell:
            self._loop.call_soon_threadsafe(self.cancel, cell)

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


def _starts_a_program(frame: FrameType | None) -> bool:
    """Whether IPython is about to start a program for `!`. An interrupt would leave it running, for nobody to end."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "system" and code.co_qualname == "ProcessHandler.system":
            return "child" not in frame.f_locals
        frame = frame.f_back
    return False


def _is_before_a_step(frame: FrameType) -> bool:
    """Whether asyncio took a task's next step off its list and none of the task's code runs yet, or no
    longer: what is raised there loses the step, and the task never ends."""
    if frame.f_code is not asyncio.Handle._run.__code__:
        return False
    step = vars(asyncio.Handle)["_callback"].__get__(frame.f_locals["self"])
    return type(step).__name__ in _STEPS and isinstance(step.__self__, asyncio.Task)
