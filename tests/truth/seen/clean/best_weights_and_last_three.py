# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "pandas"]
# thread = "PyTorch forum, about 2019 to 2021: keep the best state dict and an average of the last checkpoints, only a few copies at a time"
# ///
# %% [markdown]
# # House prices: average of checkpoints
# %%
import copy
from collections import deque

import pandas as pd
import torch
from torch import nn

torch.manual_seed(4)
# %%
n, d = 6_000, 60
X = torch.randn(n, d)
price = X[:, :6].sum(1) + 0.8 * X[:, 6] * X[:, 7] + 0.5 * torch.randn(n)
X[:, 10:20] = X[:, 10:20].exp()
# %%
X[:, 10:20] = X[:, 10:20].clamp(max=X[:, 10:20].quantile(0.99))
X = (X - X.mean(0)) / X.std(0)
tr, va = torch.arange(4_500), torch.arange(4_500, n)
# %%
def build():
    return nn.Sequential(nn.Linear(d, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 1))

def rmse(m, idx):
    with torch.no_grad():
        return (m(X[idx])[:, 0] - price[idx]).pow(2).mean().sqrt().item()
# %%
net = build()
opt = torch.optim.AdamW(net.parameters(), 2e-3)
best = {"rmse": float("inf"), "state": None, "epoch": -1}
last = deque(maxlen=3)
rows = []
# %%
for epoch in range(12):
    for idx in tr[torch.randperm(len(tr))].split(300):
        loss = (net(X[idx])[:, 0] - price[idx]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    score = rmse(net, va)
    rows.append({"epoch": epoch, "train": loss.item(), "val": score})
    last.append({k: v.clone() for k, v in net.state_dict().items()})
    if score < best["rmse"]:
        best = {"rmse": score, "state": copy.deepcopy(net.state_dict()), "epoch": epoch}
# %%
table = pd.DataFrame(rows).set_index("epoch")
table.tail(4).round(3)
# %%
mean_state = {k: torch.stack([s[k] for s in last]).mean(0) for k in last[0]}
avg = build()
avg.load_state_dict(mean_state)
# %%
end = rmse(net, va)
net.load_state_dict(best["state"])
scores = {"last": end, "best": rmse(net, va), "mean of 3": rmse(avg, va)}
print({k: round(v, 4) for k, v in scores.items()}, "best epoch", best["epoch"])
# %%
imp = {}
base = scores["mean of 3"]
for j in range(10):
    Xp = X.clone()
    Xp[va, j] = Xp[va[torch.randperm(len(va))], j]
    with torch.no_grad():
        imp[j] = (avg(Xp[va])[:, 0] - price[va]).pow(2).mean().sqrt().item() - base
pd.Series(imp).round(3)
# %%
move = sum((last[-1][k] - last[0][k]).norm().item() for k in last[0])
print(f"weights moved by {move:.2f} over the last three, gain of the mean {end - scores['mean of 3']:.4f}")
