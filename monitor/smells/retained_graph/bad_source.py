# %% in each iteration, and the losses are kept
import torch
from torch import nn

acoustic = nn.Linear(80, 30)
history = []
for features, target in pairs:
    error = nn.functional.mse_loss(acoustic(features), target)
    error.backward(retain_graph=True)  # lint: XL206
    history.append(error.item())

# %% by position, in a method
class Trainer:
    def __init__(self):
        self.net = nn.Linear(4, 4)

    def step(self, batch):
        out = self.net(batch)
        loss = out.square().mean() + 0.1 * out.abs().mean()
        loss.backward(None, True)  # lint: XL206
        self.optimizer.step()

# %% on the last of two passes
for batch in loader:
    out = acoustic(batch)
    first, second = out.mean(), out.square().mean()
    first.backward(retain_graph=True)
    second.backward(retain_graph=True)  # lint: XL206
