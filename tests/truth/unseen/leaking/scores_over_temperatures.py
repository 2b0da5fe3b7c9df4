# /// truth
# question = "hides"
# style = "long"
# needs = ["torch"]
# thread = "PyTorch forum, 2018 and later: a list of scalar losses stacked into one tensor keeps the graphs of all of them"
# leaked = "8 * (2048 * 512 * 4 + 2048 * 10 * 4)"     # hidden layer and log softmax of each pass
# cause_cell = 6
# cause_line = "cross_entropy(net(V) / T, v)"
# holder = ["scores"]
# repair = "scores = scores.detach()"
# ///
# %% [markdown]
# # Calibration of a digit net
# %%
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(21)
# %%
centers = torch.randn(10, 40)
label = torch.randint(0, 10, (6144,))
X = centers[label] + 1.3 * torch.randn(6144, 40)
X, label = X[:4096], label[:4096]
# %%
U, u, V, v = X[:2048], label[:2048], X[2048:], label[2048:]
v.bincount().tolist()
# %%
net = nn.Sequential(nn.Linear(40, 512), nn.ReLU(), nn.Linear(512, 10))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
# %%
for epoch in range(15):
    for i in torch.randperm(2048).split(256):
        opt.zero_grad()
        F.cross_entropy(net(U[i]), u[i]).backward()
        opt.step()
opt.zero_grad()
# %%
temps = [0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0]


def sweep():
    rows = []
    for T in temps:
        rows.append(F.cross_entropy(net(V) / T, v))
    return torch.stack(rows)


scores = sweep()
# %%
for T, s in zip(temps, scores):
    print(f"{T:5} {s:.4f}")
# %%
best = temps[int(scores.argmin())]
del T, s
# %%
with torch.no_grad():
    p = (net(V) / best).softmax(1)
conf, pred = p.max(1)
(pred == v).float().mean().item()
# %%
edges = torch.linspace(0, 1, 6)
ece = 0.0
for lo, hi in zip(edges[:-1], edges[1:]):
    m = (conf > lo) & (conf <= hi)
    if m.any():
        ece += (m.float().mean() * ((pred[m] == v[m]).float().mean() - conf[m].mean()).abs()).item()
# %%
wrong = (pred != v).nonzero().flatten()
print(len(wrong), "wrong, mean confidence", round(conf[wrong].mean().item(), 3))
# %%
print(f"temperature {best}, calibration error {ece:.3f}")
