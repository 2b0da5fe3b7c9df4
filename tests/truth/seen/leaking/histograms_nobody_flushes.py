# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "numpy", "matplotlib"]
# thread = "tensorboardX and PyTorch trackers, about 2018 to 2020: a SummaryWriter that gets weights and gradients each step uses more and more RAM, its events wait for a flush or close"
# leaked = "30 * (128 * 512 + 512 * 512) * 4"
# cause_cell = 3
# cause_line = "values.detach().clone()"
# holder = ["writer", "writer._events", "Writer", "_events"]
# repair = "writer.close()"
# ///
# %% [markdown]
# # Regression of a river level from 128 gauges
# %%
import json
import time

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

torch.manual_seed(12)
# %%
t = torch.linspace(0, 50, 6_000)
phase = torch.rand(128) * 6
X = torch.sin(t[:, None] * (0.5 + torch.rand(128)) + phase) + 0.2 * torch.randn(6_000, 128)
w = torch.randn(128) / 12
level = X @ w + 0.3 * (X[:, :5] ** 2).sum(1)
X.shape
# %%
class Writer:
    """Like the one of tensorboard, but a JSON file is enough for me."""

    def __init__(self, path, flush_every=10_000):
        self.path, self.flush_every = path, flush_every
        self._events = []

    def add_scalar(self, tag, value, step):
        self._add({"tag": tag, "step": step, "value": float(value)})

    def add_histogram(self, tag, values, step):
        self._add({"tag": tag, "step": step, "raw": values.detach().clone()})

    def _add(self, event):
        self._events.append(event | {"wall": time.time()})
        if len(self._events) >= self.flush_every:
            self.flush()

    def flush(self):
        with open(self.path, "a") as f:
            for e in self._events:
                if "raw" in e:
                    raw = e.pop("raw")
                    e["hist"] = torch.histc(raw, 20).tolist()
                f.write(json.dumps(e) + "\n")
        self._events.clear()

    def close(self):
        self.flush()
# %%
split = 4_500
mu, sd = X[:split].mean(0), X[:split].std(0)
Xn = (X - mu) / sd
yn = (level - level[:split].mean()) / level[:split].std()
# %%
net = nn.Sequential(nn.Linear(128, 512), nn.SiLU(), nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 1))
opt = torch.optim.AdamW(net.parameters(), 1e-3)
writer = Writer("river.jsonl")
# %%
losses = []
for step in range(300):
    idx = torch.randint(split, (128,))
    loss = (net(Xn[idx])[:, 0] - yn[idx]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    writer.add_scalar("loss", loss, step)
    if step % 10 == 0:
        writer.add_histogram("w0", net[0].weight, step)
        writer.add_histogram("w1", net[2].weight, step)
print(np.mean(losses[-20:]).round(4))
# %%
with torch.no_grad():
    pred = net(Xn[split:])[:, 0]
rmse = (pred - yn[split:]).pow(2).mean().sqrt()
naive = (yn[split - 1 : -1] - yn[split:]).pow(2).mean().sqrt()
print(f"rmse {rmse:.3f}, persistence {naive:.3f}")
# %%
fig, ax = plt.subplots(figsize=(6, 2))
ax.plot(t[split:], yn[split:], lw=0.5)
ax.plot(t[split:], pred, lw=0.5)
fig.savefig("river.png", dpi=60)
plt.close(fig)
# %%
flood = yn[split:] > yn[:split].quantile(0.95)
hit = (pred > yn[:split].quantile(0.95)) & flood
print(int(flood.sum()), "hours of flood,", int(hit.sum()), "seen")
# %%
drop = {}
with torch.no_grad():
    for g in range(0, 128, 32):
        Xz = Xn[split:].clone()
        Xz[:, g : g + 32] = 0
        drop[g] = float((net(Xz)[:, 0] - yn[split:]).pow(2).mean().sqrt() - rmse)
{k: round(v, 3) for k, v in drop.items()}
