"""`Trainer(callbacks=[WatchCallback()])`, of lightning.pytorch or pytorch_lightning."""

from __future__ import annotations

from typing import Any

from xleak.integrations.loop import WatchedLoop, base_class

_Callback: Any = base_class(("lightning.pytorch", "pytorch_lightning"), "Callback")


class WatchCallback(WatchedLoop, _Callback):
    """Watches a training; a batch is a step. Arguments as of xleak.Watcher."""

    def on_train_start(self, *_: Any) -> None:
        """Called by the trainer."""
        self.begin_watching()

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        """Called by the trainer."""
        self.step()

    def on_train_end(self, *_: Any) -> None:
        """Called by the trainer."""
        self.end_watching()
