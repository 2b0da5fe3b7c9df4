"""Notebooks as people write them, made up from a seed: for the linter's benchmarks."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

_WORDS = (
    "batch", "image", "token", "label", "score", "epoch", "sample", "weight", "feature", "layer",
    "mask", "query", "vector", "target", "output", "input", "state", "frame", "patch", "signal",
)  # fmt: skip

_IMPORTS = """\
import math
import os
from collections import defaultdict

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed({n})
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""

_MODEL = '''\
class {C}(nn.Module):
    """A network with {n} hidden units and dropout after each of its layers.

    The {a} goes in with shape (batch, {m}); the {b} comes out with shape (batch, {k}).
    """

    def __init__(self, {a}_size={m}, {b}_size={k}):
        super().__init__()
        self.{a} = nn.Linear({a}_size, {n})
        self.{b} = nn.Linear({n}, {n})
        self.head = nn.Linear({n}, {b}_size)
        self.dropout = nn.Dropout(0.{k})

    def forward(self, {a}):
        # The first layer sees the raw values, so it is normalised afterwards.
        hidden = self.dropout(F.relu(self.{a}({a})))
        hidden = hidden + self.dropout(F.relu(self.{b}(hidden)))
        return self.head(F.layer_norm(hidden, hidden.shape[-1:]))


model = {C}().to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-{k}, weight_decay=0.01)
'''

_TRAIN = '''\
def train_{a}(model, loader, optimizer, criterion, epochs={k}):
    """Trains for a number of epochs and returns the mean loss of each of them."""
    history = []
    for epoch in range(epochs):
        model.train()
        total, count = 0.0, 0
        for step, ({a}, {b}) in enumerate(loader):
            {a}, {b} = {a}.to(device), {b}.to(device)
            optimizer.zero_grad()
            {c} = model({a})
            loss = criterion({c}, {b})
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), {k}.0)
            optimizer.step()
            total += loss.item() * len({a})
            count += len({a})
            if step % {n} == 0:
                print(f"epoch {{epoch:3d}} step {{step:5d}} loss {{loss.item():.4f}}")
        history.append(total / max(count, 1))
    return history
'''

_EVALUATE = """\
@torch.no_grad()
def evaluate_{a}(model, loader):
    model.eval()
    correct, total = 0, 0
    {b}s = []
    for {a}, {c} in loader:
        {b} = model({a}.to(device))
        correct += ({b}.argmax(dim=1).cpu() == {c}).sum().item()
        total += len({c})
        {b}s.append({b}.cpu())
    return correct / total, torch.cat({b}s)


accuracy, {b}s = evaluate_{a}(model, DataLoader(dataset, batch_size={n}))
print(f"accuracy: {{accuracy:.3%}}")
"""

_DATA = """\
# Every row is one {a}; what is missing becomes the mean of its column.
frame = pd.read_csv(os.path.join("data", "{a}_{n}.csv"), parse_dates=["{b}_time"])
frame["{c}_norm"] = (frame["{c}"] - frame["{c}"].mean()) / frame["{c}"].std()
frame = frame[frame["{c}_norm"].abs() < {k}].reset_index(drop=True)
columns = [column for column in frame.columns if column.startswith("{a}")]
values = torch.tensor(frame[columns].to_numpy(), dtype=torch.float32)
dataset = TensorDataset(values, torch.tensor(frame["{b}"].to_numpy()))
loader = DataLoader(dataset, batch_size={n}, shuffle=True, num_workers={k}, pin_memory=True)
frame.groupby("{b}")["{c}_norm"].describe()
"""

_PLOT = """\
fig, axes = plt.subplots(1, {k}, figsize=({n}, 4), sharey=True)
for axis, {a} in zip(axes, sorted(history)):
    axis.plot(history[{a}], label="{b} of the {a}")
    axis.set_xlabel("epoch")
    axis.set_ylabel("{c}")
    axis.legend(loc="upper right")
fig.suptitle("The {b} over {n} epochs, one line for each {a}")
plt.show()
"""

_NUMPY = """\
# A smoothed copy: a window of {k} keeps the peaks and takes the noise away.
kernel = np.ones({k}) / {k}
smooth_{a} = np.convolve(np.asarray({a}_{b}), kernel, mode="valid")
peaks = [i for i in range(1, len(smooth_{a}) - 1) if smooth_{a}[i - 1] < smooth_{a}[i] > smooth_{a}[i + 1]]
by_{c} = defaultdict(list)
for index, value in zip(peaks, smooth_{a}[peaks]):
    by_{c}[int(math.log10(abs(value) + 1))].append((index, value))
print({{key: len(found) for key, found in by_{c}.items()}})
"""

_MAGIC = "%matplotlib inline\n!nvidia-smi\n%time {a}_{b} = np.load('{a}_{n}.npy')\n"

_CELLS = (_MODEL, _TRAIN, _EVALUATE, _DATA, _PLOT, _NUMPY, _DATA, _PLOT, _NUMPY, _MAGIC)


def notebooks(megabytes: float, seed: int = 0) -> Iterator[list[str]]:
    """Notebooks of 20 to 60 code cells, as many as hold that many million bytes of code."""
    chance = random.Random(seed)
    left = megabytes * 1e6
    while left > 0:
        cells = [_IMPORTS.format(n=chance.randrange(9999))]
        cells += [_cell(chance) for _ in range(chance.randrange(20, 60))]
        left -= sum(map(len, cells))
        yield cells


def _cell(chance: random.Random) -> str:
    a, b, c = chance.sample(_WORDS, 3)
    numbers = {
        "n": chance.choice((16, 32, 64, 128)),
        "m": chance.choice((8, 784)),
        "k": chance.randrange(2, 9),
    }
    return chance.choice(_CELLS).format(a=a, b=b, c=c, C=a.title() + b.title() + "Net", **numbers)


def write(folder: Path, megabytes: float) -> int:
    """Writes them as .ipynb and returns the bytes of code."""
    total = 0
    for number, cells in enumerate(notebooks(megabytes)):
        total += sum(len(cell) for cell in cells)
        shape = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"language_info": {"name": "python"}},
            "cells": [
                {
                    "cell_type": "code",
                    "execution_count": None,
                    "id": f"c{at}",
                    "metadata": {},
                    "outputs": [],
                    "source": cell.splitlines(keepends=True),
                }
                for at, cell in enumerate(cells)
            ],
        }
        (folder / f"{number:04}.ipynb").write_text(json.dumps(shape, indent=1))
    return total
