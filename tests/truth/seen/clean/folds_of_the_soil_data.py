# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "numpy", "pandas"]
# thread = "Stack Overflow, 2021: cross-validation in a loop, memory of earlier folds; net, optimizer and scheduler are deleted, the best weights are loaded at the end"
# ///
# %%
import gc
from copy import deepcopy
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset
# %%
rng = np.random.default_rng(17)
soil = pd.DataFrame(rng.normal(size=(1500, 60)), columns=[f"nm{400 + 10 * i}" for i in range(60)])
soil = soil.T.rolling(5, min_periods=1).mean().T
carbon = soil.iloc[:, 10:20].sum(axis=1) - soil.iloc[:, 40:44].sum(axis=1) ** 2 + rng.normal(0, .1, 1500)
# %%
X = torch.tensor(soil.to_numpy(), dtype=torch.float32)
y = torch.tensor(carbon.to_numpy(), dtype=torch.float32)[:, None]
ds = TensorDataset(X, (y - y.mean()) / y.std())
# %%
folds = np.array_split(rng.permutation(1500), 4)
[len(f) for f in folds]
# %%
def build():
    return nn.Sequential(nn.Linear(60, 1200), nn.SiLU(), nn.Linear(1200, 1200), nn.SiLU(), nn.Linear(1200, 1))
def forever(loader):
    while True:
        yield from loader
# %%
@torch.no_grad()
def rmse(net, part):
    xs, ys = zip(*part)
    return (net(torch.stack(xs)) - torch.stack(ys)).square().mean().sqrt().item()
# %%
scores, best = [], None
for k, out in enumerate(folds):
    torch.manual_seed(k)
    rest = np.concatenate([f for j, f in enumerate(folds) if j != k])
    net = build()
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 12)
    stream = forever(DataLoader(Subset(ds, rest.tolist()), 100, shuffle=True))
    for _ in range(12):
        xb, yb = next(stream)
        loss = (net(xb) - yb).square().mean()
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()
    scores.append(rmse(net, Subset(ds, out.tolist())))
    if scores[-1] == min(scores):
        best = deepcopy(net.state_dict())
    del net, opt, sched, stream, loss
    gc.collect()
# %%
pd.Series(scores, name="rmse").round(3)
# %%
final = build()
final.load_state_dict(best)
final = final.eval()
# %%
with torch.no_grad(): p = final(X)[:, 0].numpy()
res = pd.DataFrame({"carbon": carbon, "p": p * y.std().item() + y.mean().item()})
res.corr().iloc[0, 1]
# %%
print(f"{np.mean(scores):.3f} +- {np.std(scores):.3f}, worst sample off by {(res.carbon - res.p).abs().max():.2f}")
