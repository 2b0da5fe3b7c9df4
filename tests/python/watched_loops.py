"""Loops that train, for tests of the watcher."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from xleak import Watcher

# Called with (step, loss, output) after each step.
Rest = Callable[[int, torch.Tensor, torch.Tensor], object]


class Training:
    """A small network and its optimizer."""

    def __init__(self, width: int = 32) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.width = width

    def step(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(loss, output) of one step."""
        output = self.model(torch.randn(16, self.width))
        loss = output.pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss, output


def watched(rest: Rest, steps: int = 300, training: Training | None = None) -> Watcher:
    """A training of so many steps, closed."""
    training = training or Training()
    with Watcher("training", on_leak="quiet") as watcher:
        for number in range(steps):
            rest(number, *training.step())
            watcher.step()
    return watcher
