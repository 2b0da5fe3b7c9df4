"""The watcher as a callback of training frameworks."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import xleak

TENSORFLOW_PYTHON = os.environ.get("XLEAK_TENSORFLOW_PYTHON")


def installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


class LightningCallback:
    """What pytorch_lightning.Callback is where it is not installed: the hooks that a trainer calls, with
    its arguments, each of which does nothing."""

    def on_train_start(self, trainer: object, pl_module: object) -> None: ...
    def on_train_batch_end(
        self, trainer: object, pl_module: object, outputs: object, batch: object, batch_idx: int
    ) -> None: ...
    def on_train_end(self, trainer: object, pl_module: object) -> None: ...


class TrainerCallback:
    """The same of transformers."""

    def on_train_begin(
        self, args: object, state: object, control: object, **kwargs: Any
    ) -> None: ...
    def on_step_end(self, args: object, state: object, control: object, **kwargs: Any) -> None: ...
    def on_train_end(self, args: object, state: object, control: object, **kwargs: Any) -> None: ...


@pytest.fixture
def lightning(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if not installed("pytorch_lightning") and not installed("lightning"):
        stand_in = types.ModuleType("pytorch_lightning")
        vars(stand_in)["Callback"] = LightningCallback
        monkeypatch.setitem(sys.modules, "pytorch_lightning", stand_in)
    yield importlib.import_module("xleak.integrations.lightning")
    sys.modules.pop("xleak.integrations.lightning")


@pytest.fixture
def huggingface(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if not installed("transformers"):
        stand_in = types.ModuleType("transformers")
        vars(stand_in)["TrainerCallback"] = TrainerCallback
        monkeypatch.setitem(sys.modules, "transformers", stand_in)
    yield importlib.import_module("xleak.integrations.huggingface")
    sys.modules.pop("xleak.integrations.huggingface")


def lightning_training(callback: Any, kept: list[torch.Tensor], steps: int) -> None:
    callback.on_train_start(None, None)
    for step in range(steps):
        kept.append(torch.zeros(20_000))
        callback.on_train_batch_end(None, None, outputs=None, batch=None, batch_idx=step)
    callback.on_train_end(None, None)


def huggingface_training(callback: Any, kept: list[torch.Tensor], steps: int) -> None:
    callback.on_train_begin(None, None, None, model=None)
    for _ in range(steps):
        kept.append(torch.zeros(20_000))
        callback.on_step_end(None, None, None, model=None)
    callback.on_train_end(None, None, None, model=None)


def test_a_training_of_lightning_is_watched_batch_by_batch(lightning: Any) -> None:
    kept: list[torch.Tensor] = []
    callback = lightning.WatchCallback("fit", on_leak="quiet")
    assert callback.leaks == []
    lightning_training(callback, kept, 100)
    assert callback.watcher.steps == 100
    assert callback.leaks[0].label == "fit"
    assert callback.leaks[0].causes[0].holder == "kept"


def test_a_training_of_transformers_is_watched_step_by_step(huggingface: Any) -> None:
    kept: list[torch.Tensor] = []
    callback = huggingface.WatchCallback(on_leak="raise")
    with pytest.raises(xleak.LeakError, match="'training' keeps"):
        huggingface_training(callback, kept, 100)


def test_each_training_begins_anew(lightning: Any) -> None:
    callback = lightning.WatchCallback(on_leak="quiet")
    kept: list[torch.Tensor] = []
    lightning_training(callback, kept, 100)
    lightning_training(callback, kept, 3)
    assert (callback.watcher.steps, callback.leaks) == (3, [])


def test_wrong_arguments_are_refused_where_they_are_written(lightning: Any) -> None:
    with pytest.raises(ValueError, match="on_leak is one of"):
        lightning.WatchCallback(on_leak="shout")


def test_without_the_framework_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from xleak.integrations.loop import base_class

    with pytest.raises(ImportError, match="needs no_such_framework, and none"):
        base_class(("no_such_framework",), "Callback")


def test_no_framework_is_imported_by_the_watcher() -> None:
    script = """
        import sys, xleak
        with xleak.watch("x") as w:
            w.step()
        names = "torch", "transformers", "pytorch_lightning", "lightning", "keras", "IPython"
        print([name for name in names if name in sys.modules])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


KERAS = """
import warnings
import keras, numpy as np, xleak
from xleak.integrations.keras import WatchCallback

kept = []
class Keep(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        kept.append(np.zeros(20_000))

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
data = np.zeros((1200, 4)), np.zeros((1200, 1))
for callbacks in ([], [Keep()]):
    watching = WatchCallback(on_leak="quiet")
    model.fit(*data, batch_size=4, epochs=1, verbose=0, callbacks=[*callbacks, watching])
    print(watching.watcher.steps, [leak.causes[0].holder for leak in watching.leaks])
"""


@pytest.mark.skipif(TENSORFLOW_PYTHON is None, reason="XLEAK_TENSORFLOW_PYTHON names no Python")
def test_a_training_of_keras_is_watched_batch_by_batch() -> None:
    done = subprocess.run(
        [str(TENSORFLOW_PYTHON), "-c", KERAS], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "300 []\n300 ['kept']\n"
