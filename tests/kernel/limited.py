"""A memory cgroup of the test's own, for kernels and other processes to run in."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")


class MemoryGroup:
    """Of version 1 or 2, below the one that the tests run in. Raises OSError where none may be made."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        own = {
            line.split(":", 2)[1]: line.split(":", 2)[2]
            for line in Path("/proc/self/cgroup").read_text().splitlines()
        }
        is_v1 = "memory" in own
        above = _MOUNT / ("memory" if is_v1 else "") / own["memory" if is_v1 else ""].lstrip("/")
        self.folder = above / f"xleak-{name}-{os.getpid()}"
        self.folder.mkdir()
        self._limit = self.folder / ("memory.limit_in_bytes" if is_v1 else "memory.max")
        self._used = self.folder / ("memory.usage_in_bytes" if is_v1 else "memory.current")
        try:
            self._limit.write_text(str(limit_bytes))
            # Enough of a machine's swap would let a cell grow for ever.
            if not is_v1 and (self.folder / "memory.swap.max").exists():
                (self.folder / "memory.swap.max").write_text("0")
        except OSError:
            self.folder.rmdir()
            raise

    @property
    def used_bytes(self) -> int:
        """With page cache."""
        return int(self._used.read_text())

    def program(self, folder: Path, python: str) -> str:
        """A program that runs `python` in this group."""
        path = folder / "python-in-group"
        path.write_text(f'#!/bin/sh\necho $$ > {self.folder}/cgroup.procs\nexec {python} "$@"\n')
        path.chmod(0o755)
        return str(path)

    def remove(self) -> None:
        """Once its last process has ended; raises OSError where it does not."""
        deadline = time.monotonic() + 30
        while True:
            try:
                return self.folder.rmdir()
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.05)
