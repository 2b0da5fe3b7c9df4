# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "PyTorch's documentation of parametrize.cached and GitHub, crossfit, 2024, on caches to be cleared: the cache of computed weights lives until the outermost context is left"
# leaked = "6 * 4 * 850 * 850"
# cause_cell = 4
# cause_line = "quick.enter_context(parametrize.cached())"
# holder = ["torch.nn.utils.parametrize._cache", "_cache", "parametrize", "cached", "quick", "ExitStack"]
# repair = "quick.close()"
# ///
# %% [markdown]
# # Rotors with symmetric coupling
# %%
from contextlib import ExitStack

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn.utils import parametrize
# %%
N = 850


class Symmetric(nn.Module):
    def forward(self, w):
        return (w.triu() + w.triu(1).mT) / N**0.5
# %%
def coupling(seed):
    torch.manual_seed(seed)
    layer = nn.Linear(N, N, bias=False)
    nn.init.normal_(layer.weight)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    return layer
# %% [markdown]
# The weights do not change here, no need to put them together in every step.
# %%
quick = ExitStack()


def relax(layer, steps=25):
    quick.enter_context(parametrize.cached())
    s = torch.sign(torch.linspace(-1, 1.001, N))
    trace = []
    for _ in range(steps):
        s = torch.tanh(1.5 * layer(s))
        trace.append(-(s @ layer(s)).item() / N)
    return s, trace
# %%
@torch.no_grad()
def ensemble(seeds):
    layers = [coupling(seed) for seed in seeds]
    return [relax(layer) for layer in layers]
# %%
runs = ensemble(range(6))
energy = pd.DataFrame({k: t for k, (_, t) in enumerate(runs)})
energy.iloc[[0, 5, -1]].round(4)
# %%
final = torch.stack([s for s, _ in runs])
print("order", final.abs().mean(1))
# %%
overlap = np.corrcoef(final.numpy())
print("largest overlap of two", np.abs(overlap - np.eye(6)).max().round(3))
# %%
fig, ax = plt.subplots(figsize=(4, 2.5))
ax.plot(energy)
fig.savefig("energy.png", dpi=60)
plt.close(fig)
# %%
settled = (energy.diff().abs() < 1e-3).idxmax()
settled.describe()[["mean", "max"]]
# %%
print("mean energy", energy.iloc[-1].mean(), "+-", energy.iloc[-1].std())
