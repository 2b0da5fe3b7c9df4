"""A real IPython shell with xleak in it."""

from __future__ import annotations

import atexit
import gc
import logging
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
from xleak import _native
from xleak.shell.tracebacks import drop_last_errors
from xleak.shell.watcher import Watcher, watcher

MIB = 1 << 20


class Session:
    """Runs cells as a front end does, and remembers nothing of their values."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    @property
    def watcher(self) -> Watcher:
        current = watcher()
        assert current is not None
        return current

    def run(self, source: str) -> bool:
        """Runs one cell, and the idle time after it; False where it raised."""
        succeeded = bool(self.shell.run_cell(source, store_history=True).success)
        if (current := watcher()) is not None:
            # In a kernel the look comes once it rests.
            current.idle(lambda: False)
        return succeeded

    def ask(self, source: str, silent: bool = True) -> None:
        """Runs what a variable inspector runs."""
        self.shell.run_cell(source, store_history=False, silent=silent)

    def leaks(self) -> dict[str, int]:
        """Bytes of what the output cache keeps, by entry."""
        found = [it for it in _native.findings() if it.code == "XL401"]
        return {finding.key: finding.bytes or 0 for finding in found}

    def entry(self) -> str:
        """The latest output entry."""
        return f"Out[{max(self.shell.user_ns['Out'])}]"

    def reported(self, code: str, *cells: str) -> dict[str, tuple[int, str]]:
        """Runs cells and asks for a verdict: (MiB, repair) of the findings of a rule, by holder."""
        for cell in cells:
            assert self.run(cell), cell
        self.shell.run_line_magic("leakcheck", "")
        found = [it for it in self.watcher.findings() if it.code == code]
        return {it.key: ((it.bytes or 0) // MIB, it.fixes[0].code or "") for it in found}

    def new_findings(self, cells: list[str]) -> list[tuple[str, int]]:
        """(code, number of the cell after which it came), for every finding that the cells make."""
        known: set[str] = {finding.key for finding in _native.findings()}
        found = []
        for number, cell in enumerate(cells, 1):
            assert self.run(cell) is not ("# raises" in cell.splitlines()[0]), cell
            now = {finding.key: finding.code for finding in _native.findings()}
            found += [(code, number) for key, code in now.items() if key not in known]
            known = set(now)
        return found


@contextmanager
def new_session() -> Iterator[Session]:
    """A shell of its own, with xleak loaded as `%load_ext xleak` loads it."""
    # What earlier tests left must not come back while this one counts.
    gc.collect()
    InteractiveShell.clear_instance()
    handlers = _logging_handlers()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    shell = InteractiveShell.instance(config=config)
    shell.run_line_magic("load_ext", "xleak")
    try:
        yield Session(shell)
    finally:
        shell.run_line_magic("unload_ext", "xleak")
        shell.reset(new_session=False)
        # The next shell keeps this one, by the module that it took the place of.
        drop_last_errors(shell)
        # It would live until the process ends, and each test would walk the heaps of all before it.
        atexit.unregister(shell.atexit_operations)
        InteractiveShell.clear_instance()
        _forget_what_the_process_keeps()
        for logger, had in _logging_handlers().items():
            logger.handlers[:] = handlers.get(logger, had[:0])


def _logging_handlers() -> dict[logging.Logger, list[logging.Handler]]:
    known = [logging.root, *logging.root.manager.loggerDict.values()]
    return {it: it.handlers[:] for it in known if isinstance(it, logging.Logger)}


class _OfACell:
    """Equals every callback that a cell registered."""

    def __eq__(self, callback: object) -> bool:
        function = getattr(callback, "func", callback)
        return getattr(function, "__module__", None) == "__main__"


def _forget_what_the_process_keeps() -> None:
    """The registries that belong to no shell."""
    atexit.unregister(_OfACell())  # type: ignore[arg-type]
    for finalizer in list(vars(weakref.finalize)["_registry"]):
        if (kept := finalizer.peek()) and _OfACell() == kept[1]:
            finalizer.detach()
    if "torch" in sys.modules:
        sys.modules["torch"].autograd.set_detect_anomaly(False)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)
