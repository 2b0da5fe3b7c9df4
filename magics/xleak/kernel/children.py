"""The programs that a session started and left running."""

from __future__ import annotations

import contextlib
import signal

from xleak.originals import os, time
from xleak.shell.descendants import descendants, process_state

# How long a program may take to end by itself, in seconds, and how often we look.
_PATIENCE = 1.0
_STEP = 0.01


def end_children() -> None:
    """End what the kernel's process started, as ipykernel does: by SIGTERM, then by SIGKILL. What has a
    process group of its own was meant to live on."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        running = _running(os.getpid())
        for pid in running:
            _send(pid, number)
        deadline = time.monotonic() + _PATIENCE
        while running and time.monotonic() < deadline:
            time.sleep(_STEP)
            running = [pid for pid in running if process_state(pid) not in (None, "Z", "X")]
        if not running:
            return


def _running(parent: int) -> list[int]:
    """The descendants of `parent` in the kernel's process group that have not ended."""
    return [pid for pid in descendants(parent) if _group(pid) == os.getpgrp()]


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _send(pid: int, number: signal.Signals) -> None:
    # It may have ended by itself, or belong to another user.
    with contextlib.suppress(OSError):
        os.kill(pid, number)
