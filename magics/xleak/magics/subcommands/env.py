"""`%xleak env`: what a report of a bug should hold."""

from __future__ import annotations

import sys

from IPython.core.error import UsageError

from xleak import _native
from xleak.magics.live import live_watcher
from xleak.render.table import printable
from xleak.render.units import human_bytes
from xleak.shell import environment as surroundings
from xleak.shell import tensors
from xleak.verdict import versions

HELP = {"env": "versions, CUDA, settings of allocators, limits"}


def run(arguments: list[str]) -> None:
    """Prints a line for each."""
    if arguments:
        raise UsageError(f"%xleak env takes no arguments, got {' '.join(arguments)!r}")
    told = environment()
    width = max(map(len, told))
    print("\n".join(f"{name:<{width}} {printable(value)}" for name, value in told.items()))


def environment() -> dict[str, str]:
    """Versions, kernel, memory, what allocators are told, rules. No paths."""
    torch = {"torch": "not loaded"}
    if "torch" in sys.modules:
        torch = {"tensors": tensors.why_unknown() or "counted"}
    return {
        **versions(),
        **torch,
        **surroundings.libraries(),
        **_cuda(),
        "kernel": "xleak" if "xleak._kernel" in sys.modules else "another, by %load_ext xleak",
        "memory": human_bytes(_native.ram_bytes()),
        **{f"limit of {name}": human_bytes(size) for name, size in surroundings.limits().items()},
        **surroundings.settings(),
        "rules": ", ".join(sorted(smell.code for smell in _native.smells())),
        "policy": live_watcher().settings.policy,
    }


def _cuda() -> dict[str, str]:
    built = surroundings.cuda_versions()
    paths = [it.message for it in _native.findings() if it.code == "XL519"]
    wrong = [*surroundings.mismatches(built), *paths]
    told = {"CUDA": ", ".join(f"{name} {version}" for name, version in built.items())}
    if wrong:
        told["mismatch"] = "; ".join(wrong)
    return {name: value for name, value in told.items() if value}
