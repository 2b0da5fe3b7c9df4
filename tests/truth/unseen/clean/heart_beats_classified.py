# /// truth
# question = "unused"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "Look-alike of the reports on models that stay, hyperas, 2016: the trained net is what the notebook is for, and the last cells save and show it"
# ///
# %% [markdown]
# # Heart beats: a net for the four kinds
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(5)
KINDS = ["normal", "early", "paced", "wide"]
# %%
def beats(n, seed):
    r = np.random.default_rng(seed)
    k = r.integers(0, 4, n)
    t = np.linspace(-1, 1, 160)
    centre, width = np.array([0.0, -0.25, 0.0, 0.05])[k], np.array([0.05, 0.06, 0.03, 0.16])[k]
    w = np.exp(-(((t - centre[:, None]) / width[:, None]) ** 2)) + 0.3 * np.sin(3 * t + r.uniform(0, 6, (n, 1)))
    return torch.tensor(w + r.normal(0, 0.3, w.shape), dtype=torch.float32), torch.tensor(k)
# %%
Xtr, ytr = beats(3_000, 0)
Xva, yva = beats(800, 1)
pd.Series(ytr.numpy()).value_counts().sort_index()
# %%
fig, ax = plt.subplots(figsize=(4, 2))
for k in range(4):
    ax.plot(Xtr[ytr == k].mean(0).numpy(), label=KINDS[k])
ax.legend(fontsize=6)
fig.savefig("means.png", dpi=60)
plt.close(fig)
# %%
base = torch.stack([Xtr[ytr == k].mean(0) for k in range(4)])
print("by nearest mean", (torch.cdist(Xva, base).argmin(1) == yva).float().mean().item())
# %%
def make(width):
    return nn.Sequential(nn.Linear(160, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))


def train(net, steps):
    for _ in range(steps):
        i = torch.randint(0, len(Xtr), (96,))
        loss = nn.functional.cross_entropy(net(Xtr[i]), ytr[i])
        loss.backward()
        with torch.no_grad():
            for w in net.parameters():
                w -= 0.3 * w.grad
                w.grad = None
    return net.eval().requires_grad_(False)
# %%
trial = {w: (train(make(w), 15)(Xva).argmax(1) == yva).float().mean().item() for w in (8, 32)}
pd.Series(trial).round(3)
# %%
final = train(make(1100), 12)
print(sum(w.numel() for w in final.parameters()), "weights")
# %%
pred = final(Xva).argmax(1)
cm = pd.crosstab(yva.numpy(), pred.numpy())
print(cm)
# %%
torch.save(final.state_dict(), "beats.pt")
print("right:", (pred == yva).float().mean().item())
