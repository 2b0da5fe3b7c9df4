"""How much memory this process may still have, without a native call that would need some."""

from __future__ import annotations

import re
import resource
from dataclasses import dataclass

_PAGE = resource.getpagesize()
_KIB = re.compile(rb"(?m)^(\w+): +(\d+) kB$")


@dataclass(frozen=True)
class Room:
    """Bytes that are free below a limit, all that it allows, and how a sentence goes on to name it."""

    free: int
    total: int
    limit: str


def room() -> Room | None:
    """What is left below the limit that is nearest; None where nothing can be read.

    The limits at which an allocation fails: the process's address space (setrlimit(2)) and what the
    machine has (/proc/meminfo in proc(5)). At a cgroup's the process is killed instead.
    """
    limits = [limit for limit in (_address_space(), _machine()) if limit is not None]
    return min(limits, key=lambda limit: limit.free, default=None)


def _address_space() -> Room | None:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return None
    try:
        with open("/proc/self/statm", "rb") as statm:
            used = int(statm.read(256).split()[0]) * _PAGE
    except (OSError, ValueError):
        return None
    return Room(max(0, soft - used), soft, "below the process's address-space limit")


def _machine() -> Room | None:
    try:
        with open("/proc/meminfo", "rb") as meminfo:
            kib = {name: int(size) for name, size in _KIB.findall(meminfo.read())}
        free, total = kib[b"MemAvailable"] + kib[b"SwapFree"], kib[b"MemTotal"] + kib[b"SwapTotal"]
    except (OSError, KeyError):
        return None
    return Room(free << 10, total << 10, "of the machine's memory and swap")
