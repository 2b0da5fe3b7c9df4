"""What the interpreter and libraries keep because it was registered with them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.fields import class_fields, fields_of, is_instance, loaded_class

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

# Labels are no expressions: what is theirs is not said to be the user's.
_REGISTRIES = (
    ("logging's root logger", "logging", "root"),
    ("logging's loggers", "logging", "Logger.manager.loggerDict"),
    ("weakref's finalizers", "weakref", "finalize._registry"),
    ("multiprocessing's children", "multiprocessing.process", "_children"),
)
THREADS = "the registered threads"
TIMER = "the timer "
_HOOKS = ("excepthook", "unraisablehook", "displayhook")
_HOOKED = ("sys", "threading")


def registries(shell: InteractiveShell) -> Iterator[tuple[str, object]]:
    """(label, object) of those that are there. Imports nothing."""
    for label, _, found in registries_with_code(shell):
        yield label, found


def registries_with_code(shell: InteractiveShell) -> Iterator[tuple[str, str, object]]:
    """The same, with the code that a cell has them by."""
    yield "IPython's events", "get_ipython().events.callbacks", shell.events.callbacks
    yield "get_ipython()", "get_ipython()", shell
    yield "the list gc.callbacks", '__import__("gc").callbacks', gc.callbacks
    for label, module, path in _REGISTRIES:
        found = _found(module, path.split("."))
        if found is not None:
            by_name = (
                f'__import__("{module}")'
                if "." not in module
                else f'__import__("sys").modules["{module}"]'
            )
            yield label, f"{by_name}.{path}", found
    for ident, thread in _native.items_of(_found("threading", ["_active"])):
        waits = is_waiting_timer(thread)
        label = f"{TIMER}{name_of_thread(thread)}" if waits else THREADS
        yield label, f'__import__("threading")._active[{ident}]', thread
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if handler is not None and not _native.is_kind_of(handler, int):
            code = f'__import__("signal").getsignal({int(number)})'
            yield f"the handler of {_name_of(number)}", code, handler
    loop = _event_loop()
    if loop is not None:
        yield "asyncio's event loop", '__import__("asyncio").get_event_loop()', loop


def name_of_thread(thread: object) -> str:
    """Asks nobody: it may be of a class of the user's."""
    name = fields_of(thread).get("_name")
    return name if type(name) is str else "without a name"


def is_waiting_timer(thread: object) -> bool:
    """Whether it is a timer whose time has not come."""
    event = fields_of(thread).get("finished") if is_instance(thread, "threading", "Timer") else None
    return fields_of(event).get("_flag") is False


def timers(shell: InteractiveShell) -> list[str]:
    """The labels of those that wait."""
    return [label for label, _ in registries(shell) if label.startswith(TIMER)]


def hooks() -> Iterator[tuple[dict[str, Any], str, str]]:
    """(dictionary, its own key, label) of the interpreter's hooks that somebody replaced."""
    for module in _HOOKED:
        names = _native.fields_of_module(module)
        for name in [name for name in _native.names_in(names) if name in _HOOKS]:
            if names[name] is not names.get(f"__{name}__"):
                yield names, name, f"the hook {module}.{name}"


def _name_of(number: int) -> str:
    """Of a signal; the real-time ones have no name."""
    return number.name if isinstance(number, signal.Signals) else f"signal {number}"


def _found(module: str, path: list[str]) -> object:
    """What a path of attributes leads to, read from dictionaries alone; None where it breaks."""
    first, *rest = path
    owner: object = _native.fields_of_module(module).get(first)
    for name in rest:
        fields = class_fields(owner) if _native.is_kind_of(owner, type) else fields_of(owner)
        owner = fields.get(name)
    return owner


def _event_loop() -> object:
    """The event loop of this thread, without making one."""
    base = loaded_class("asyncio.events", "BaseDefaultEventLoopPolicy")
    policy = _found("asyncio.events", ["_event_loop_policy"])
    local = fields_of(policy).get("_local") if _native.is_kind_of(policy, base) else None
    # An object for each thread, which has no fields to be read from outside.
    is_its_own = local is not None and type(local) is class_fields(base).get("_Local")
    return getattr(local, "_loop", None) if is_its_own else None
