"""The asyncio loop that the main thread runs, in cells and between them."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class MainLoop:
    """One loop for the life of the kernel: tasks that a cell starts go on after it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        # One context for all cells: a ContextVar that one sets is seen by the next.
        self._context = contextvars.copy_context()
        self._watched: tuple[int, ...] = ()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run to the end. An interrupt that arrives while everything waits cancels the coroutine."""
        task = self._loop.create_task(coroutine, context=self._context)
        while True:
            try:
                return self._loop.run_until_complete(task)
            except KeyboardInterrupt:
                if task.done():
                    raise
                task.cancel("interrupted")
            except BaseException:
                if task.done():
                    raise
                # Another task ended the loop (SystemExit, loop.stop()); the cell goes on.
                traceback.print_exc(file=sys.stderr)

    def wait(self, *descriptors: int) -> None:
        """Run the user's tasks until one of the descriptors can be read. Raises what ends the loop."""
        if self._watched != descriptors:
            self._watched = descriptors
            for descriptor in descriptors:
                self._loop.add_reader(descriptor, self._loop.stop)
        self._loop.run_forever()
