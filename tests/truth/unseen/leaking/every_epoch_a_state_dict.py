# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "pandas", "matplotlib"]
# thread = "PyTorch forum, about 2020: early stopping class keeps a deepcopy of the state dict each time the score is better, the list of them is only read at its end"
# leaked = "(10 - 1) * (200 * 600 + 600 + 600 * 600 + 600 + 600 * 12 + 12) * 4"
# cause_cell = 4
# cause_line = "copy.deepcopy(model.state_dict())"
# holder = ["stopper", "stopper.states", "EarlyStopping", "states"]
# repair = "del stopper.states[:-1]"
# ///
# %% [markdown]
# # Which of twelve machines? Multi layer perceptron on 200 sensors
# %%
import copy

import matplotlib.pyplot as plt
import pandas as pd
import torch
from torch import nn

torch.manual_seed(8)
# %%
centers = torch.randn(12, 200)

def draw(n):
    y = torch.randint(12, (n,))
    return 0.35 * centers[y] + torch.randn(n, 200), y

Xtr, ytr = draw(4_000)
Xva, yva = draw(1_500)
# %%
drop = torch.rand_like(Xtr) < 0.02
Xtr[drop] = float("nan")
fill = Xtr.nanmean(0)
Xtr = torch.where(Xtr.isnan(), fill, Xtr)
scale = Xtr.std(0)
Xtr, Xva = Xtr / scale, Xva / scale
# %%
class EarlyStopping:
    def __init__(self, patience=3, min_delta=-1.0):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.wait, self.states = float("inf"), 0, []

    def __call__(self, value, model):
        if value < self.best - self.min_delta:
            self.best, self.wait = min(value, self.best), 0
            self.states.append(copy.deepcopy(model.state_dict()))
        else:
            self.wait += 1
        return self.wait >= self.patience

    def restore(self, model):
        model.load_state_dict(self.states[-1])
# %%
net = nn.Sequential(nn.Linear(200, 600), nn.GELU(), nn.Dropout(0.3), nn.Linear(600, 600), nn.GELU(), nn.Linear(600, 12))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
stopper = EarlyStopping()
# %%
rows = []
for epoch in range(10):
    net.train()
    perm = torch.randperm(len(Xtr))
    total = 0.0
    for idx in perm.split(250):
        loss = nn.functional.cross_entropy(net(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        out = net(Xva)
    vl = nn.functional.cross_entropy(out, yva).item()
    rows.append((epoch, total / len(Xtr), vl, (out.argmax(1) == yva).float().mean().item()))
    if stopper(vl, net):
        break
# %%
stopper.restore(net)
hist = pd.DataFrame(rows, columns=["epoch", "train", "val", "acc"]).set_index("epoch")
hist.round(3)
# %%
ax = hist[["train", "val"]].plot(figsize=(4, 2.5))
ax.figure.savefig("loss.png", dpi=60)
plt.close(ax.figure)
# %%
with torch.no_grad():
    pred = net(Xva).argmax(1)
conf = torch.zeros(12, 12, dtype=torch.long)
for t, p in zip(yva.tolist(), pred.tolist()):
    conf[t, p] += 1
print(conf.diag().sum().item() / len(yva))
# %%
off = conf.clone().fill_diagonal_(0)
i, j = divmod(int(off.argmax()), 12)
print(f"most often confused: {i} with {j}, {off[i, j]} times, distance {torch.dist(centers[i], centers[j]):.2f}")
# %%
imp = net[0].weight.detach().abs().mean(0)
imp.topk(5).indices
