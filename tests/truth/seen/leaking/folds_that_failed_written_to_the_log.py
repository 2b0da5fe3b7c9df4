# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas"]
# thread = "Pull requests of 2026 at mloda and ucxx: a handler that stores log records has their exc_info, and with it the frames of the traceback"
# leaked = "2 * (4000 * (768 + 768) * 4)"
# cause_cell = 5
# cause_line = "h = self.norm(torch.relu(self.inp(x)))"
# holder = ["logging.getLogger('cv').handlers[0].records", "logging", "LogRecord", "Tail", "exc_info", "traceback"]
# repair = "for h in logging.getLogger('cv').handlers:\n    h.records.clear()"
# ///
# %%
import logging

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(6)
rng = np.random.default_rng(6)
# %%
class Tail(logging.Handler):
    """keeps the log to look at it at the end of the notebook"""

    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


logging.getLogger("cv").addHandler(Tail())
logging.getLogger("cv").propagate = False
logging.getLogger("cv").setLevel(logging.INFO)
# %%
n, p = 20_000, 32
X = rng.normal(size=(n, p)).astype("float32")
y = (X[:, :4].sum(1) + rng.normal(0, 1, n)).astype("float32")
site = rng.integers(0, 5, n)
# two sites send a column of text codes that ends up as labels
odd = {1, 3}
# %%
pd.Series(site).value_counts().sort_index()
# %%
class Net(nn.Module):
    def __init__(self, width=768):
        super().__init__()
        self.inp, self.norm = nn.Linear(p, width), nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = self.norm(torch.relu(self.inp(x)))
        return self.out(h)


# %%
def fit(xb, yb, steps=3):
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    for _ in range(steps):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(xb).squeeze(1), yb)
        loss.backward()
        opt.step()
    return loss.item()


# %%
rows = []
for s in range(5):
    m = np.flatnonzero(site == s)[:3900]
    xb, yb = torch.from_numpy(X[m]), torch.from_numpy(y[m])
    if s in odd:
        yb = yb[:-7]
    try:
        rows.append({"site": s, "loss": fit(xb, yb)})
    except (RuntimeError, ValueError):
        logging.getLogger("cv").exception("site %d failed", s)
# %%
res = pd.DataFrame(rows).set_index("site")
res.round(3)
# %%
todo = sorted(set(range(5)) - set(res.index))
print("without a result:", todo)
# %%
print("best site", res.loss.idxmin(), "mean loss", res.loss.mean().round(3))
# %%
weights = 1 / res.loss
print((weights / weights.sum()).round(3).to_dict())
