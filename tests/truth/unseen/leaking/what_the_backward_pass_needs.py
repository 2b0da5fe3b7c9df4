# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "PyTorch issue of 2023 on memory with saved_tensors_hooks and the notes to them of 2025 and 2026: what a pack hook stores stays when the graph is gone"
# leaked = "12 * 4 * 900 * (64 + 600 + 1 + 1)"
# cause_cell = 4
# cause_line = "SAVED.append((STEP[\"n\"], t.detach()))"
# holder = ["SAVED", "pack", "saved_tensors_hooks"]
# repair = "SAVED.clear()"
# ///
# %% [markdown]
# # How much does a step save for its backward pass?
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

torch.manual_seed(30)
# %%
X = torch.randn(3_600, 64)
y = (X[:, :3].sum(1, keepdim=True)).sin() + 0.1 * torch.randn(3_600, 1)
Xt = torch.randn(500, 64)
yt = Xt[:, :3].sum(1, keepdim=True).sin()
# %%
net = nn.Sequential(nn.Linear(64, 600), nn.Tanh(), nn.Linear(600, 1))
# %%
SAVED, STEP = [], {"n": 0}


def pack(t):
    SAVED.append((STEP["n"], t.detach()))
    return t


def unpack(t):
    return t
# %%
def step(idx, lr=0.05):
    STEP["n"] += 1
    with saved_tensors_hooks(pack, unpack):
        loss = (net(X[idx]) - y[idx]).square().mean()
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= lr * p.grad
            p.grad = None
    return loss.item()
# %%
losses = [step(idx) for epoch in range(3) for idx in torch.randperm(len(X)).split(900)]
print(np.round(losses, 3))
# %%
first = [t for n, t in SAVED if n == 1]
pd.DataFrame({"shape": [str(tuple(t.shape)) for t in first], "kB": [t.numel() * 4 / 1e3 for t in first]})
# %%
print("a step saves", sum(t.numel() * 4 for t in {t.data_ptr(): t for t in first}.values()) / 1e6, "MB")
del first
# %%
with torch.no_grad():
    err = (net(Xt) - yt).abs()
print("test", err.mean().item(), "largest", err.max().item())
# %%
fig, ax = plt.subplots(figsize=(3, 2))
ax.plot(losses)
fig.savefig("losses.png", dpi=60)
plt.close(fig)
# %%
w = net[0].weight.detach().norm(dim=0)
print("strongest inputs", w.topk(4).indices.tolist())
# %%
trend = np.polyfit(range(len(losses)), np.log(losses), 1)[0]
print(f"{STEP['n']} steps, log loss falls by {-trend:.4f} a step")
