# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas"]
# thread = "Pages of 2025 on gc.DEBUG_SAVEALL: left on after a hunt, it saves every cycle that would have been freed to gc.garbage"
# leaked = "5 * (2 + 2) * (100 * 700 + 700 + 700 * 300 + 300 + 300 * 3 + 3) * 4"
# cause_cell = 6
# cause_line = "self.net = nn.Sequential("
# holder = ["gc.garbage", "DEBUG_SAVEALL", "gc.set_debug"]
# repair = "import gc\ngc.set_debug(0)\ngc.garbage.clear()"
# ///
# %%
import gc

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(21)
rng = np.random.default_rng(21)
# %%
n = 3000
spectra = rng.normal(size=(n, 100)).cumsum(1).astype("float32")
label = rng.integers(0, 3, n)
spectra[label == 1, 40:60] += 3
spectra[label == 2, 70:80] -= 3
# %%
spectra -= spectra.mean(1, keepdims=True)
spectra /= spectra.std(1, keepdims=True)
X, y = torch.from_numpy(spectra), torch.from_numpy(label)
cut = int(0.8 * n)
print(X.shape, y.bincount().tolist())
# %%
base = nn.Linear(100, 3)
opt = torch.optim.Adam(base.parameters(), lr=1e-2)
for _ in range(60):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(base(X[:cut]), y[:cut])
    loss.backward()
    opt.step()
print("linear baseline", round(loss.item(), 3))
# %%
# yesterday the kernel got slow, let us see what the collector finds
gc.collect()
gc.set_debug(gc.DEBUG_SAVEALL)
# %%
class Trainer:
    def __init__(self, lr):
        self.net = nn.Sequential(nn.Linear(100, 700), nn.ReLU(), nn.Linear(700, 300), nn.ReLU(), nn.Linear(300, 3))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.callbacks = [EarlyStop(self, patience=3)]
        self.stop, self.val = False, []

    def fit(self, epochs):
        for _ in range(epochs):
            for b in torch.randperm(cut).split(400):
                self.opt.zero_grad()
                nn.functional.cross_entropy(self.net(X[b]), y[b]).backward()
                self.opt.step()
            with torch.no_grad():
                self.val.append(nn.functional.cross_entropy(self.net(X[cut:]), y[cut:]).item())
            for cb in self.callbacks:
                cb.after_epoch()
            if self.stop:
                break
        return min(self.val)


class EarlyStop:
    def __init__(self, trainer, patience):
        self.trainer, self.patience = trainer, patience

    def after_epoch(self):
        v = self.trainer.val
        self.trainer.stop = len(v) > self.patience and min(v[-self.patience :]) > min(v)


# %%
results = {}
for lr in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4):
    results[lr] = Trainer(lr).fit(epochs=4)
# %%
pd.Series(results, name="val loss").round(4)
# %%
lr = min(results, key=results.get)
print("best learning rate", lr)
# %%
counts = np.bincount(label, minlength=3) / n
prior = -(counts * np.log(counts)).sum()
print(f"entropy of the labels {prior:.3f}, best loss {results[lr]:.3f}")
# %%
grid = pd.DataFrame({"lr": list(results), "loss": list(results.values())})
grid["gain"] = (prior - grid.loss).round(3)
grid
