# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "GitHub, pytorch, 2019 and 2022: schedulers refer to their optimizer, models stay after model and optimizer went"
# leaked = "4 * (4 * 900 * (900 + 8) + 8 * 900 + 900 + 1)"
# cause_cell = 5
# cause_line = "self.rnn = nn.LSTM("
# holder = ["sched", "sched.optimizer", "OneCycleLR", "scheduler"]
# repair = "del sched"
# ///
# %%
import gc, math
import numpy as np
import pandas as pd
import torch
from torch import nn
# %%
torch.manual_seed(1)
hours = pd.date_range("2022-01-03", periods=24 * 7 * 20, freq="h")
base = 50 + 10 * np.sin(2 * np.pi * hours.hour / 24) - 8 * (hours.dayofweek >= 5)
load = pd.Series(base + np.random.default_rng(0).normal(0, 1.5, len(hours)), index=hours, name="MW")
# %%
load.resample("D").mean().head(7)
# %%
feat = pd.DataFrame({"y": (load - load.mean()) / load.std()})
for k in (1, 2, 3):
    feat[f"s{k}"] = np.sin(2 * np.pi * k * hours.hour / 24)
    feat[f"c{k}"] = np.cos(2 * np.pi * k * hours.hour / 24)
feat["we"] = (hours.dayofweek >= 5).astype(float)
arr = torch.tensor(feat.to_numpy(), dtype=torch.float32)
arr.shape
# %%
class Forecast(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.rnn = nn.LSTM(n_in, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)
    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1])
# %%
model = Forecast(8, 900)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
sched = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=12, cycle_momentum=False)
# %%
lrs, losses = [], []
pos = torch.arange(0, 12 * 16 * 12, 12)
for b in range(12):
    idx = pos[b * 16:(b + 1) * 16]
    x = torch.stack([arr[i:i + 12] for i in idx]); t = arr[idx + 12, :1]
    loss = nn.functional.mse_loss(model(x), t)
    loss.backward()
    optimizer.step(); optimizer.zero_grad()
    lrs.append(sched.get_last_lr()[0]); losses.append(float(loss))
    sched.step()
# %%
model.eval()
with torch.no_grad():
    pred = torch.cat([model(arr[i:i + 12][None]) for i in range(3000, 3048)])[:, 0].numpy()
truth = arr[3012:3060, 0].numpy()
rmse = math.sqrt(((pred - truth) ** 2).mean()) * load.std()
print(f"rmse {rmse:.2f} MW")
# %%
del model, optimizer, loss
gc.collect()
torch.cuda.empty_cache()
# %%
import matplotlib.pyplot as plt
fig, (a, b) = plt.subplots(1, 2, figsize=(8, 3))
a.plot(lrs); b.plot(losses)
fig.savefig("training.png"); plt.close(fig)
# %%
naive = np.sqrt(((load.shift(24) - load) ** 2).mean())
pd.Series({"lstm": rmse, "yesterday": naive}).round(2)
