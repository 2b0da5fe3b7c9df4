"""`Trainer(callbacks=[WatchCallback()])`, of transformers."""

from __future__ import annotations

from typing import Any

from xleak.integrations.loop import WatchedLoop, base_class

_Callback: Any = base_class(("transformers",), "TrainerCallback")


class WatchCallback(WatchedLoop, _Callback):
    """Watches a training; a step is one of the optimizer. Arguments as of xleak.Watcher."""

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """Called by the trainer."""
        self.begin_watching()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """Called by the trainer."""
        self.step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Called by the trainer."""
        self.end_watching()
