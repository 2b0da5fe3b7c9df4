"""Says which cell kept your memory, who holds it, and how to get it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xleak import originals

# Before the functions below are made.
globals()["__builtins__"] = originals.BUILTINS
for _folder in __path__:
    originals.use_in(_folder)

if TYPE_CHECKING:
    __version__: str

    from IPython.core.interactiveshell import InteractiveShell

    from xleak.shell.guard import MemoryGuardError
    from xleak.shell.release import ForgetResult, forget
    from xleak.shell.release_steps import Step, release_cache
    from xleak.watching.leak import LeakError, LeakWarning
    from xleak.watching.scope import watch
    from xleak.watching.watcher import Watcher

__all__ = [
    "ForgetResult",
    "LeakError",
    "LeakWarning",
    "MemoryGuardError",
    "Step",
    "Watcher",
    "__version__",
    "forget",
    "release_cache",
    "watch",
]

_MODULES = {
    "ForgetResult": "xleak.shell.release",
    "LeakError": "xleak.watching.leak",
    "LeakWarning": "xleak.watching.leak",
    "MemoryGuardError": "xleak.shell.guard",
    "Step": "xleak.shell.release_steps",
    "Watcher": "xleak.watching.watcher",
    "__version__": "xleak._native",
    "forget": "xleak.shell.release",
    "release_cache": "xleak.shell.release_steps",
    "watch": "xleak.watching.scope",
}


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Called by ``%load_ext xleak``; a second call does nothing."""
    from xleak.shell.install import attach

    attach(ipython, events=True)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Called by ``%unload_ext xleak``: puts the shell back as it was."""
    from xleak.shell.install import detach

    detach(ipython)


def __getattr__(name: str) -> Any:
    # What the functions need is loaded when one of them is asked for, not with every import.
    if name not in _MODULES:
        raise AttributeError(f"module 'xleak' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)
