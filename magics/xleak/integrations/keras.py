"""`model.fit(..., callbacks=[WatchCallback()])`, of Keras 3 or tf.keras."""

from __future__ import annotations

from typing import Any

from xleak.integrations.loop import WatchedLoop, base_class

_Callback: Any = base_class(("keras.callbacks",), "Callback")


class WatchCallback(WatchedLoop, _Callback):
    """Watches a training; a batch is a step. Arguments as of xleak.Watcher."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Called by fit()."""
        self.begin_watching()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Called by fit()."""
        self.step()

    def on_train_end(self, logs: Any = None) -> None:
        """Called by fit()."""
        self.end_watching()
