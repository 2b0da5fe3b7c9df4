# /// truth
# question = "unused"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "Look-alike of the reports on functools.partial, Stack Overflow, about 2019: the array is bound into a function, and that function is what the rest of the notebook calls"
# ///
# %% [markdown]
# # Is this part one that we have seen?
# %%
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(11)
# %%
net = nn.Sequential(nn.Conv2d(1, 12, 5, stride=3), nn.ReLU(), nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(768, 192)).eval()
# %%
def photos(n, seed):
    g = torch.Generator().manual_seed(seed)
    base = torch.rand(n, 1, 8, 8, generator=g)
    return nn.functional.interpolate(base, size=(48, 48), mode="bilinear", align_corners=False)


@torch.no_grad()
def embed(x):
    return nn.functional.normalize(torch.cat([net(part) for part in x.split(500)]), dim=1)


# %%
bank = torch.cat([embed(photos(1_000, seed)) for seed in range(9)])
bank.shape
# %%
def nearest(bank, x, k=3):
    return (embed(x) @ bank.T).topk(k, dim=1)


look_up = partial(nearest, bank)
# %%
known = photos(1_000, 4)[:60] + 0.02 * torch.randn(60, 1, 48, 48)
hit = look_up(known)
print("found again", (hit.indices[:, 0] == 4_000 + torch.arange(60)).float().mean().item())
# %%
new = photos(60, 77)
miss = look_up(new)
miss.values[:, 0].mean().item()
# %%
tab = pd.DataFrame({"best": torch.cat([hit.values[:, 0], miss.values[:, 0]]).numpy(), "known": np.arange(120) < 60})
tab.groupby("known").best.describe().round(4)
# %%
cuts = np.quantile(tab.best, [0.3, 0.5, 0.7])
print({round(float(c), 4): round(float(((tab.best > c) == tab.known).mean()), 3) for c in cuts})
# %%
fig, ax = plt.subplots(figsize=(3, 2))
ax.hist([tab.best[tab.known], tab.best[~tab.known]], bins=15)
fig.savefig("parts.png", dpi=60)
plt.close(fig)
# %%
for noise in (0.05, 0.1, 0.2):
    again = look_up(photos(1_000, 4)[:60] + noise * torch.randn(60, 1, 48, 48), k=1)
    print(noise, (again.indices[:, 0] == 4_000 + torch.arange(60)).float().mean().item())
