"""Accounts cells by IPython's own events, where the kernel is not ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from IPython.core.interactiveshell import InteractiveShell

from xleak import _native
from xleak.shell import tensors
from xleak.shell.cell_outputs import IpykernelOutputs
from xleak.shell.entry import entry
from xleak.shell.readings import (
    begin_device_cell,
    device_readings,
    end_device_cell,
    python_count,
)
from xleak.shell.rests import Rests, running_loop, waits_in_ipykernel

if TYPE_CHECKING:
    from xleak.shell.watcher import Watcher

_RUNS = InteractiveShell.run_cell_async.__code__
# IPython 9 counts a cell before it says that one comes, IPython 8 once it has run.
_IS_COUNTED_FIRST = "execution_count" in _RUNS.co_varnames + _RUNS.co_cellvars


@dataclass
class _Request:
    """One run_cell that has begun."""

    nested: bool
    announced: bool = False
    index: int = 0


class CellEvents:
    """The four events of a run: pre_execute, pre_run_cell, post_execute, post_run_cell.

    IPython leaves the two of run_cell out for silent requests. A cell may itself run cells.
    """

    def __init__(
        self, shell: InteractiveShell, watcher: Watcher, outputs: IpykernelOutputs | None
    ) -> None:
        """outputs: None in a terminal."""
        self._shell = shell
        self._watcher = watcher
        self._outputs = outputs
        self._rests = Rests(watcher, waits_in_ipykernel(shell))
        self._requests: list[_Request] = []

    def register(self) -> None:
        """Starts to listen."""
        for name, listener in self._listeners().items():
            self._shell.events.register(name, listener)

    def unregister(self) -> None:
        """Stops listening."""
        self._rests.close()
        for name, listener in self._listeners().items():
            self._shell.events.unregister(name, listener)

    def _listeners(self) -> dict[str, Callable[..., None]]:
        return {
            "pre_execute": self.pre_execute,
            "pre_run_cell": self.pre_run_cell,
            "post_execute": self.post_execute,
            "post_run_cell": self.post_run_cell,
        }

    @entry()
    def pre_execute(self) -> None:
        """Something is about to run."""
        self._requests.append(_Request(nested=bool(self._requests)))
        if len(self._requests) == 1:
            self._watcher.before_tool_request()

    @entry()
    def pre_run_cell(self, info: Any) -> None:
        """It is not silent."""
        if not self._requests:
            return
        if info.store_history:
            # What is stored is a cell of the user's; requests that never ended are forgotten.
            self._requests = [_Request(nested=False)]
        request = self._requests[-1]
        request.announced = True
        if info.store_history:
            count = self._shell.execution_count - _IS_COUNTED_FIRST
            self._watcher.about_to_run(info.raw_cell, count)
            self._watcher.before_cell()
            python = python_count.before_first_cell()
            request.index = _native.begin_cell(
                getattr(info, "cell_id", None), count, device_readings(), *python
            )
            if request.index:
                if self._outputs is not None:
                    self._outputs.keep(request.index)
                tensors.begin_cell(request.index)
                begin_device_cell(request.index)
                python_count.begin_cell()
                _native.begin_line_times()

    @entry()
    def post_execute(self) -> None:
        """It has run."""
        if self._requests and not self._requests[-1].announced:
            self._end(self._requests.pop())

    @entry()
    def post_run_cell(self, result: Any) -> None:
        """It was not silent and has run."""
        if not self._requests:
            return
        request = self._requests.pop()
        if not request.index:
            self._end(request)
            return
        count = result.execution_count
        status: Literal["ok", "error"] = "ok" if result.success else "error"
        python = python_count.end_cell()
        _native.end_cell(
            request.index,
            status,
            count,
            python.blocks,
            end_device_cell(request.index),
            tensors.end_cell(request.index),
            python.bytes,
        )
        self._watcher.after_cell(request.index, result.info.raw_cell, count)
        self._rest()

    def _rest(self) -> None:
        """The reply has not been sent; what runs on the kernel's loop comes after it."""
        loop = None if self._outputs is None else running_loop()
        if loop is not None:
            loop.call_soon(_native.cell_answered)
            self._rests.begin(loop)
            return
        # A terminal sends no reply, and nothing runs between its cells.
        _native.cell_answered()
        self._watcher.look_at_once()

    def _end(self, request: _Request) -> None:
        # What a cell runs inside itself is the user's.
        if not request.nested:
            self._watcher.after_tool_request()
