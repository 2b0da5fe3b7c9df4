# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "sklearn", "matplotlib"]
# thread = "Look-alike of the reports on forward hooks: a context manager adds the hook and removes it, the features are used below"
# ///
# %%
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from torch import nn

torch.manual_seed(2)
# %%
Xn, yn = make_classification(6000, 30, n_informative=10, n_classes=3, random_state=4)
X = torch.tensor(Xn, dtype=torch.float32)
y = torch.tensor(yn)
Xtr, Xte, ytr, yte = X[:4500], X[4500:], y[:4500], y[4500:]
# %%
net = nn.Sequential(nn.Linear(30, 400), nn.ReLU(), nn.Linear(400, 200), nn.ReLU(), nn.Linear(200, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
# %%
losses = []
for epoch in range(6):
    for idx in torch.randperm(len(Xtr)).split(300):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(Xtr[idx]), ytr[idx])
        loss.backward()
        opt.step()
    losses.append(loss.item())
# %%
@contextmanager
def features_of(layer):
    got = []
    h = layer.register_forward_hook(lambda m, i, o: got.append(o.detach().cpu()))
    try:
        yield got
    finally:
        h.remove()


# %%
net.eval()
with torch.no_grad(), features_of(net[3]) as feats:
    for part in X.split(1000):
        net(part)
F = torch.cat(feats).numpy()
del feats
F.shape
# %%
lin = LogisticRegression(max_iter=300).fit(F[:4500], yn[:4500])
print("probe", lin.score(F[4500:], yn[4500:]))
# %%
with torch.no_grad():
    acc = (net(Xte).argmax(1) == yte).float().mean().item()
print("net  ", round(acc, 3))
# %%
Z = PCA(2, random_state=0).fit_transform(F)
fig, ax = plt.subplots(figsize=(4, 3))
ax.scatter(*Z.T, c=yn, s=2)
plt.close(fig)
# %%
dead = (F <= 0).all(0).mean()
print(f"dead units {dead:.1%}, spread {Z.std(0).round(2)}")
