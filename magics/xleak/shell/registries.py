"""What the interpreter and libraries keep because it was registered with them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xleak.originals import gc

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# Labels are no expressions: what is theirs is not said to be the user's.
_REGISTRIES = (
    ("logging's root logger", "logging", "root"),
    ("logging's loggers", "logging", "Logger.manager.loggerDict"),
    ("weakref's finalizers", "weakref", "finalize._registry"),
    ("the registered threads", "threading", "_active"),
    ("multiprocessing's children", "multiprocessing.process", "_children"),
)
_HOOKS = ("excepthook", "unraisablehook", "displayhook")


def registries(shell: InteractiveShell) -> Iterator[tuple[str, object]]:
    """(label, object) of those that are there. Imports nothing."""
    yield "IPython's events", shell.events.callbacks
    yield "the list gc.callbacks", gc.callbacks
    for label, module, path in _REGISTRIES:
        found = _found(sys.modules.get(module), path.split("."))
        if found is not None:
            yield label, found
    loop = _event_loop()
    if loop is not None:
        yield "asyncio's event loop", loop


def hooks() -> Iterator[tuple[dict[str, Any], str, str]]:
    """(dictionary, its own key, label) of the interpreter's hooks that somebody replaced."""
    names = vars(sys)
    for name in [name for name in names if name in _HOOKS]:
        if names[name] is not names.get(f"__{name}__"):
            yield names, name, f"the hook sys.{name}"


def _found(owner: object, path: list[str]) -> object:
    """What a path of attributes leads to, read from dictionaries alone; None where it breaks."""
    if not isinstance(owner, ModuleType):
        return None
    for name in path:
        owner = getattr(owner, "__dict__", {}).get(name)
    return owner


def _event_loop() -> object:
    """The event loop of this thread, without making one."""
    events = sys.modules.get("asyncio.events")
    base = _found(events, ["BaseDefaultEventLoopPolicy"])
    policy = _found(events, ["_event_loop_policy"])
    if not isinstance(base, type) or not issubclass(type(policy), base):
        return None
    return getattr(vars(policy).get("_local"), "_loop", None)
