# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "Stack Overflow and GitHub, Keras style callbacks, 2017 to 2020: the history that is kept for plots has the model"
# leaked = "4 * (40 * 2000 + 2000 + 2000 * 2000 + 2000 + 2000 + 1)"
# cause_cell = 6
# cause_line = "nn.Linear(width, width)"
# holder = ["hist", "hist.trainer", "History", "trainer"]
# repair = "hist.trainer = None"
# ///
# %%
import gc
import numpy as np, pandas as pd
import torch
from torch import nn
import matplotlib.pyplot as plt
# %%
rng = np.random.default_rng(77)
df = pd.DataFrame(rng.normal(size=(2400, 40)), columns=[f"x{i}" for i in range(40)])
df["price"] = 3 * df.x0 - 2 * df.x1 * df.x2 + np.abs(df.x3) + rng.normal(0, .2, len(df))
df.loc[rng.integers(0, 2400, 60), "x7"] = np.nan
df.shape
# %%
df["x7"] = df["x7"].fillna(df["x7"].median())
df = df[df["price"].between(-9, 12)].reset_index(drop=True)
# %%
X = torch.tensor(df.filter(like="x").to_numpy(), dtype=torch.float32)
y = torch.tensor(df["price"].to_numpy(), dtype=torch.float32)[:, None]
tr, te = slice(0, 1800), slice(1800, None)
# %%
class Callback:
    def bind(self, trainer): self.trainer = trainer
    def epoch(self, logs): pass

class History(Callback):
    def __init__(self): self.rows = []
    def epoch(self, logs): self.rows.append(logs)

class Patience(Callback):
    def __init__(self, n): self.n, self.best, self.worse = n, 1e9, 0
    def epoch(self, logs):
        self.worse = 0 if logs["val"] < self.best else self.worse + 1
        self.best = min(self.best, logs["val"])
        self.trainer.stop = self.worse >= self.n
# %%
class Trainer:
    def __init__(self, width, callbacks):
        self.net = nn.Sequential(nn.Linear(40, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=.02)
        self.callbacks, self.stop = callbacks, False
        for c in callbacks: c.bind(self)
    def loss(self, s):
        return nn.functional.smooth_l1_loss(self.net(X[s]), y[s])
    def fit(self, epochs):
        for e in range(epochs):
            for i in range(0, 1800, 300):
                l = self.loss(slice(i, i + 300)); l.backward()
                self.opt.step(); self.opt.zero_grad()
            with torch.no_grad():
                logs = {"epoch": e, "train": l.item(), "val": self.loss(te).item()}
            for c in self.callbacks: c.epoch(logs)
            if self.stop: break
# %%
torch.manual_seed(3)
hist = History()
trainer = Trainer(2000, [hist, Patience(4)])
trainer.fit(4)
# %%
with torch.no_grad():
    pred = trainer.net(X[te])[:, 0].numpy()
res = pd.DataFrame({"y": y[te, 0].numpy(), "pred": pred})
res.corr().iloc[0, 1].round(3)
# %%
del trainer
gc.collect()
# %%
log = pd.DataFrame(hist.rows).set_index("epoch")
ax = log.plot(); ax.figure.savefig("log.png"); plt.close(ax.figure)
log.tail(2)
# %%
res["err"] = (res.y - res.pred).abs()
res.groupby(pd.qcut(res.y, 4, labels=False))["err"].mean().round(3)
# %%
print(f"best val {log['val'].min():.3f} in epoch {log['val'].idxmin()}, mean error {res['err'].mean():.3f}")
