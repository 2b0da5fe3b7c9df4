# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas"]
# thread = "Look-alike of the questions on early stopping: a copy of the best weights is kept to load it at the end, by a hook of the optimizer that is removed"
# ///
# %%
import copy

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(9)
rng = np.random.default_rng(9)
# %%
hours = np.arange(24 * 400)
load = 50 + 12 * np.sin(hours / 24 * 2 * np.pi) + 6 * np.sin(hours / 168 * 2 * np.pi) + rng.normal(0, 2, len(hours))
series = pd.Series(load, pd.date_range("2023-01-01", periods=len(hours), freq="h"))
series.resample("D").mean().describe().round(2)
# %%
z = (series - series.mean()) / series.std()
win = np.lib.stride_tricks.sliding_window_view(z.to_numpy(), 73)
data = torch.tensor(win[::3].copy(), dtype=torch.float32)
X, t = data[:, :72], data[:, 72:]
cut = int(0.75 * len(X))
# %%
net = nn.Sequential(nn.Linear(72, 1000), nn.ReLU(), nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 1))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
steps = []
counter = opt.register_step_post_hook(lambda o, a, k: steps.append(o.param_groups[0]["lr"]))
# %%
def val_loss():
    net.eval()
    with torch.no_grad():
        v = nn.functional.mse_loss(net(X[cut:]), t[cut:]).item()
    net.train()
    return v


# %%
best, best_state, wait = np.inf, None, 0
hist = []
for epoch in range(8):
    for idx in torch.randperm(cut).split(300):
        opt.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(net(X[idx]), t[idx])
        loss.backward()
        opt.step()
    hist.append((loss.item(), val_loss()))
    if hist[-1][1] < best:
        best, best_state, wait = hist[-1][1], copy.deepcopy(net.state_dict()), 0
    else:
        wait += 1
    if wait == 3:
        break
# %%
counter.remove()
net.load_state_dict(best_state)
print(len(steps), "steps, best", round(best, 4), "again", round(val_loss(), 4))
# %%
curve = pd.DataFrame(hist, columns=["train", "val"])
curve.round(4)
# %%
with torch.no_grad():
    err = (net(X[cut:]) - t[cut:]).squeeze(1).numpy() * series.std()
print("MAE %.2f, naive %.2f" % (np.abs(err).mean(), series.diff().abs().mean()))
# %%
drift = sum((net.state_dict()[k] - v).abs().sum().item() for k, v in best_state.items())
print("difference to the best weights:", drift)
