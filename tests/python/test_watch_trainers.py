"""The watcher as a callback of real trainers, in the environment that has them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

TRAINERS_PYTHON = os.environ.get("XLEAK_TRAINERS_PYTHON")

pytestmark = pytest.mark.skipif(
    TRAINERS_PYTHON is None, reason="XLEAK_TRAINERS_PYTHON names no Python that has the trainers"
)

LIGHTNING = """
import pytorch_lightning
from xleak.integrations.lightning import WatchCallback

class Model(pytorch_lightning.LightningModule):
    def __init__(self, leaks):
        super().__init__()
        self.layer, self.leaks, self.outputs = torch.nn.Linear(64, 64), leaks, []
    def training_step(self, batch, index):
        output = self.layer(batch)
        if self.leaks:
            self.outputs.append(output)
        return output.pow(2).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

def train(leaks, callback):
    model = Model(leaks)
    trainer = pytorch_lightning.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[callback],
    )
    trainer.fit(model, torch.utils.data.DataLoader(torch.zeros(150 * 64, 64), batch_size=64))
"""

TRANSFORMERS = """
import transformers
from xleak.integrations.huggingface import WatchCallback

class Model(torch.nn.Module):
    def __init__(self, leaks):
        super().__init__()
        self.layer, self.leaks, self.outputs = torch.nn.Linear(64, 64), leaks, []
    def forward(self, inputs, labels=None):
        output = self.layer(inputs)
        if self.leaks:
            self.outputs.append(output)
        return {"loss": output.pow(2).mean(), "logits": output}

def train(leaks, callback):
    model = Model(leaks)
    arguments = transformers.TrainingArguments(
        output_dir="out", max_steps=150, per_device_train_batch_size=64, use_cpu=True,
        report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
    )
    rows = [{"inputs": torch.zeros(64), "labels": torch.zeros(1)}] * (150 * 64)
    trainer = transformers.Trainer(model, arguments, train_dataset=rows, callbacks=[callback])
    trainer.train()
"""

# A correct training, one that leaks and warns, one that leaks and raises.
THREE = """
def told(leaks, on_leak):
    callback = WatchCallback(on_leak=on_leak)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        raised = ""
        try:
            train(leaks, callback)
        except xleak.LeakError as error:
            raised = str(error)
    warned = [str(it.message) for it in seen if issubclass(it.category, xleak.LeakWarning)]
    return {"steps": callback.watcher.steps, "warned": warned, "raised": raised}

print(json.dumps([told(False, "warn"), told(True, "warn"), told(True, "raise")]))
"""


def trained(trainer: str, folder: Path) -> list[dict[str, Any]]:
    """What the three trainings of a fresh process were told."""
    script = "import json, warnings, torch, xleak\n" + trainer + THREE
    done = subprocess.run(
        [str(TRAINERS_PYTHON), "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        # What a trainer might ask of a network it must not.
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.mark.parametrize("trainer", [LIGHTNING, TRANSFORMERS], ids=["lightning", "transformers"])
def test_a_real_trainer_is_silent_when_correct_and_warns_or_raises_when_it_leaks(
    trainer: str, tmp_path: Path
) -> None:
    correct, warned, raised = trained(trainer, tmp_path)
    assert correct == {"steps": 150, "warned": [], "raised": ""}
    (message,) = warned["warned"]
    assert (warned["steps"], warned["raised"]) == (150, "")
    assert (raised["steps"], raised["warned"]) == (150, [])
    for text in (message, raised["raised"]):
        assert "'training' keeps 16 KiB more of tensors on the host with every step" in text
        assert "  model.outputs: " in text
        assert "Keep `output.detach()`: each keeps its step's graph." in text
