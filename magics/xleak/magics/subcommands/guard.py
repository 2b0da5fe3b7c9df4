"""`%xleak guard`: what is done before memory is out, and how near that is."""

from __future__ import annotations

from IPython.core.error import UsageError

from xleak import _native
from xleak.magics.live import live_watcher
from xleak.render.units import human_bytes
from xleak.shell.settings import GUARD_POLICIES, in_words

HELP = {
    "guard": "show the limits of memory and how near they are",
    "guard off": "watch no limits",
    "guard warn": "say when memory gets short (the default)",
    "guard interrupt": "and stop the cell that has nearly taken all, with MemoryGuardError",
}

_NAMES = {
    "cgroup": "this process's cgroup",
    "address_space": "RLIMIT_AS or RLIMIT_DATA",
    "machine": "the machine, with swap",
}


def run(arguments: list[str]) -> None:
    """Shows or sets the policy, and shows the limits."""
    if arguments and (len(arguments) > 1 or arguments[0] not in GUARD_POLICIES):
        got = " ".join(arguments)
        raise UsageError(f"%xleak guard takes {in_words(GUARD_POLICIES)}, got {got!r}")
    settings = live_watcher().settings
    if arguments:
        settings.guard = arguments[0]
    print(f"guard: {settings.guard}")
    if settings.policy == "off":
        print("It rests while xleak is off; %xleak policy report switches both on.")
    elif settings.guard != "off":
        _native.look_at_limits()
        print("\n".join(map(_line, _native.limits())) or "No limit can be read here.")


def _line(state: _native.LimitState) -> str:
    name = _NAMES.get(state.limit, state.device)
    used, limit = human_bytes(state.used_bytes), human_bytes(state.limit_bytes)
    warning, critical = human_bytes(state.warning_bytes), human_bytes(state.critical_bytes)
    return f"{name}: {used} of {limit}, {state.level}; warning from {warning}, critical from {critical}"
