# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "numpy", "matplotlib"]
# thread = "Lightning guide for version 2 of 2023: collect outputs in a list of the module and clear it at the end of each validation epoch"
# ///
# %% [markdown]
# # Land cover from 12 bands
# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

torch.manual_seed(6)
# %%
K, B = 9, 12
sig = torch.rand(K, B) * 2

def pixels(n):
    y = torch.randint(K, (n,))
    return sig[y] * (0.7 + 0.6 * torch.rand(n, 1)) + 0.25 * torch.randn(n, B), y

Xtr, ytr = pixels(30_000)
Xva, yva = pixels(12_000)
# %%
ndvi = (Xtr[:, 7] - Xtr[:, 3]) / (Xtr[:, 7] + Xtr[:, 3]).abs().clamp(min=0.1)
keep = ndvi.abs() < 8
Xtr, ytr = Xtr[keep], ytr[keep]
len(Xtr)
# %%
class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(B, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.head = nn.Linear(256, K)
        self.step_outputs = []
        self.epochs = []

    def forward(self, x):
        return self.head(self.body(x))

    def validation_step(self, x, y):
        self.step_outputs.append((self(x), y))

    def on_validation_epoch_end(self):
        logits = torch.cat([o for o, _ in self.step_outputs])
        y = torch.cat([t for _, t in self.step_outputs])
        hit = logits.argmax(1) == y
        per_class = torch.stack([hit[y == k].float().mean() for k in range(K)])
        self.epochs.append({"acc": hit.float().mean().item(), "worst": per_class.min().item()})
        self.step_outputs.clear()
# %%
module = Module()
opt = torch.optim.AdamW(module.parameters(), 1e-3, weight_decay=0.01)
norms = []
# %%
for epoch in range(5):
    module.train()
    for idx in torch.randperm(len(Xtr)).split(500):
        loss = nn.functional.cross_entropy(module(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        norms.append(float(nn.utils.clip_grad_norm_(module.parameters(), 5.0)))
        opt.step()
    module.eval()
    with torch.no_grad():
        for x, y in zip(Xva.split(1_000), yva.split(1_000)):
            module.validation_step(x, y)
    module.on_validation_epoch_end()
module.epochs[-1]
# %%
fig, (a, b) = plt.subplots(1, 2, figsize=(6, 2))
a.plot([e["acc"] for e in module.epochs])
a.plot([e["worst"] for e in module.epochs], "--")
b.plot(np.convolve(norms, np.ones(20) / 20, "valid"))
fig.savefig("cover.png", dpi=60)
plt.close(fig)
# %%
with torch.no_grad():
    pred = module(Xva).argmax(1)
conf = torch.bincount(yva * K + pred, minlength=K * K).reshape(K, K)
prec = conf.diag() / conf.sum(0).clamp(min=1)
print([round(v, 2) for v in prec.tolist()])
# %%
pairs = conf.clone().fill_diagonal_(0)
i, j = divmod(int(pairs.argmax()), K)
print(f"{i} is taken for {j}, spectra differ by {torch.dist(sig[i], sig[j]):.2f}")
# %%
band = {}
with torch.no_grad():
    for k in range(B):
        Xk = Xva.clone()
        Xk[:, k] = Xk[:, k].mean()
        band[k] = round((pred == yva).float().mean().item() - (module(Xk).argmax(1) == yva).float().mean().item(), 3)
max(band, key=band.get), len(norms)
