"""When the watcher looks: once the kernel rests, after the reply, and never within a cell."""

from __future__ import annotations

import asyncio
import select
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.originals import os
from xleak.shell.entry import entry

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.watcher import Interrupted, Watcher

# A client that sends cells one after another sends the next one sooner, and does not wait for the part of a
# look that cannot be cut off.
_QUIET_SECONDS = 0.05


class Rests:
    """Has the watcher look on the loop that runs between the cells, until a request waits."""

    def __init__(self, watcher: Watcher, request_waits: Interrupted) -> None:
        self._watcher = watcher
        self._request_waits = request_waits
        self._timer: asyncio.TimerHandle | None = None
        self._pid = os.getpid()

    def begin(self, loop: asyncio.AbstractEventLoop, *, quiet: bool = False) -> None:
        """A request was served: a look that is due starts once no other request comes. quiet: none has
        come for a while."""
        self.close()
        if self._watcher.is_unfinished:
            self._timer = loop.call_later(0 if quiet else _QUIET_SECONDS, self._look, loop)
        else:
            self._watcher.rest(self._request_waits)

    def close(self) -> None:
        """Cancels the look that was about to start."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @entry()
    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        # The loop runs in cells that await, too; after each of them there is a rest.
        if _native.running_cell() is not None or os.getpid() != self._pid:
            return
        done = False if self._request_waits() else self._watcher.idle(self._request_waits)
        # None: it failed, and would again.
        if done is not None:
            self.begin(loop)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs this code; None in a terminal."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def waits_in_ipykernel(shell: InteractiveShell) -> Interrupted:
    """Whether ipykernel has something to read on its shell channel, without reading it.

    ZeroMQ signals the events of a socket by a descriptor. To ask the socket itself would clear the signal,
    and ipykernel's streams would then sleep on.
    """
    descriptor = _shell_descriptor(getattr(shell, "kernel", None))
    if descriptor is None:
        return lambda: False
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return lambda: bool(poll.poll(0))


def _shell_descriptor(kernel: Any) -> int | None:
    try:
        thread = getattr(kernel, "shell_channel_thread", None)
        if thread is None:
            socket = kernel.shell_stream.socket
        else:
            # Since version 7 another thread receives and hands on to the main thread.
            socket = thread.manager.get_shell_channel_to_subshell_pair(None).to_socket
        return int(socket.fileno())
    except Exception:
        # Another kernel, or another version: there a look is not cut off.
        return None
