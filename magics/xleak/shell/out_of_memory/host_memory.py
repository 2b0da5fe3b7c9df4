"""How much memory this process may still have."""

from __future__ import annotations

from dataclasses import dataclass

from xleak import _native

_NAMES = {
    "address_space": "below the process's address-space limit",
    "machine": "of the machine's memory and swap",
}


@dataclass(frozen=True)
class Room:
    """Bytes that are free below a limit, all that it allows, and how a sentence goes on to name it."""

    free: int
    total: int
    limit: str


def room(given_bytes: int = 0) -> Room | None:
    """What is left below the limit that is nearest; None where nothing can be read.

    The limits at which an allocation fails: those of the process (setrlimit(2)) and what the machine
    has. At a cgroup's the process is killed instead. given_bytes: address space that was in use
    when the allocation failed, and is free since.
    """
    given = {"address_space": given_bytes}
    rooms = [
        Room(max(0, limit - used - given.get(name, 0)), limit, _NAMES[name])
        for name, used, limit in _native.host_limits()
        if name in _NAMES
    ]
    return min(rooms, key=lambda it: it.free, default=None)
