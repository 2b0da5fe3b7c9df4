"""The asyncio loop that the main thread runs, in cells and between them."""

from __future__ import annotations

import asyncio
import contextvars
import selectors
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, TypeVar

from xleak import _kernel, _native
from xleak.originals import os

T = TypeVar("T")


class MainLoop:
    """One loop for the life of the kernel: tasks that a cell starts go on after it."""

    def __init__(self) -> None:
        self._selector = selectors.EpollSelector()
        self.loop = asyncio.SelectorEventLoop(self._selector)
        asyncio.set_event_loop(self.loop)
        # One context for all cells: a ContextVar that one sets is seen by the next.
        self._context = contextvars.copy_context()
        signalled = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.loop.add_reader(signalled, os.eventfd_read, signalled)
        self._signalled = signalled
        self._watched: tuple[int, ...] = ()

    def bring_signals(self, looked: Callable[[FrameType | None], None]) -> None:
        """Signals wake the main thread from here on. `looked`: called where it then is."""
        waker = _kernel.start_signal_waker(self._signalled, looked)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

    @_native.out_of_sight
    def start(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task that runs with the loop, in the context of all cells."""
        return self.loop.create_task(coroutine, context=self._context)

    @_native.out_of_sight
    def finish(self, task: asyncio.Task[T], cancel: Callable[[asyncio.Task[T]], object]) -> T:
        """Run to the end of `task`. After an interrupt that stopped another one `cancel` is called."""
        while True:
            try:
                self._repair()
                result: T = _native.in_sight(self.loop.run_until_complete, task)
                return result
            except KeyboardInterrupt:
                if task.done():
                    return task.result()
                cancel(task)
            except BaseException:
                if task.done():
                    return task.result()
                # Another task ended the loop (SystemExit, loop.stop()); the cell goes on.
                traceback.print_exc(file=sys.stderr)

    def work_descriptor(self) -> int:
        """Can be read once a task has something to do; -1 where one has now, or may have later without it."""
        parts = vars(self.loop)
        if self.loop.is_closed() or parts["_ready"] or parts["_scheduled"]:
            return -1
        return self._selector.fileno()

    @_native.out_of_sight
    def wait(self, *descriptors: int) -> None:
        """Run the user's tasks until one of the descriptors can be read. Raises what ends the loop."""
        if self._watched != descriptors:
            self._watched = descriptors
            for descriptor in descriptors:
                self.loop.add_reader(descriptor, self.loop.stop)
        self._repair()
        _native.in_sight(self.loop.run_forever)

    def _repair(self) -> None:
        """A signal handler that raised while asyncio left its loop left it marked as running."""
        if self.loop.is_running():
            asyncio._set_running_loop(None)
            vars(self.loop)["_thread_id"] = None
