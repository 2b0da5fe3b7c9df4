"""Room for the account of a cell that took all there was."""

from __future__ import annotations

import mmap
import resource
from contextlib import suppress

# The modules of the account, and a look at a heap of some hundred thousand objects.
_BYTES = 32 << 20


class Reserve:
    """Address space that nobody has, while the process has a limit of it; its pages are never touched."""

    def __init__(self) -> None:
        self._held: mmap.mmap | None = None
        self._given = 0

    def take(self) -> None:
        """Holds it, if there is room. Without a limit what fails was too large by itself."""
        self._given = 0
        if self._held is None and _is_limited():
            with suppress(OSError, MemoryError):
                flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
                self._held = mmap.mmap(-1, _BYTES, flags=flags, prot=mmap.PROT_READ)

    def give(self) -> int:
        """Gives the reserve back. Returns how many bytes of address space it had, also where it was given before."""
        held, self._held = self._held, None
        if held is not None:
            held.close()
            self._given = _BYTES
        return self._given


def _is_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
