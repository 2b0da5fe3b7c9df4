"""What the callbacks of all frameworks do."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from xleak.watching.leak import Leak
from xleak.watching.watcher import OnLeak, Watcher


def base_class(modules: tuple[str, ...], name: str) -> Any:
    """The framework's class: of the module that the process has, else of the first that is installed.

    Raises ImportError where none is.
    """
    for module in sorted(modules, key=lambda it: it not in sys.modules):
        try:
            return getattr(importlib.import_module(module), name)
        except ImportError:
            continue
    raise ImportError(
        f"xleak's callback needs {' or '.join(modules)}, and none of them is installed"
    )


class WatchedLoop:
    """One Watcher from the beginning of a training to its end. Arguments as of xleak.Watcher."""

    def __init__(
        self,
        label: str = "training",
        *,
        every: int = 100,
        on_leak: OnLeak = "warn",
        max_kept: int | str | None = None,
    ) -> None:
        super().__init__()
        self._arguments: dict[str, Any] = {"every": every, "on_leak": on_leak, "max_kept": max_kept}
        self._label = label
        self.watcher: Watcher | None = None
        """Of the training that runs, or of the last one."""
        # What is wrong with them is said here.
        Watcher(label, **self._arguments).close()

    @property
    def leaks(self) -> list[Leak]:
        """What was found; empty before the first training."""
        return self.watcher.leaks if self.watcher else []

    def begin_watching(self) -> None:
        """The training begins."""
        self.watcher = Watcher(self._label, **self._arguments)

    def step(self) -> None:
        """A step of it is over."""
        if self.watcher:
            self.watcher.step()

    def end_watching(self) -> None:
        """It is over."""
        if self.watcher:
            self.watcher.close()
