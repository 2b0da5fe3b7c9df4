"""`%xleak env`: what a report of a bug should hold."""

from __future__ import annotations

import sys

from IPython.core.error import UsageError

from xleak import _native
from xleak.magics.live import live_watcher
from xleak.render.units import human_bytes
from xleak.shell import tensors
from xleak.verdict import versions

HELP = {"env": "versions and what is loaded"}


def run(arguments: list[str]) -> None:
    """Prints a line for each."""
    if arguments:
        raise UsageError(f"%xleak env takes no arguments, got {' '.join(arguments)!r}")
    print("\n".join(f"{name:<8} {value}" for name, value in environment().items()))


def environment() -> dict[str, str]:
    """Versions, kernel, memory, rules. No paths."""
    torch = {"torch": "not loaded"}
    if "torch" in sys.modules:
        torch = {"tensors": tensors.why_unknown() or "counted"}
    return {
        **versions(),
        **torch,
        "kernel": "xleak" if "xleak._kernel" in sys.modules else "another, by %load_ext xleak",
        "memory": human_bytes(_native.ram_bytes()),
        "rules": ", ".join(smell.code for smell in _native.smells()),
        "policy": live_watcher().settings.policy,
    }
