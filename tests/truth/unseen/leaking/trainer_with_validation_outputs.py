# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "torch", "matplotlib"]
# thread = "Lightning tracker, 2022 and 2023: outputs of validation steps are appended to a list of the module and never cleared, memory rises with each epoch"
# leaked = "12 * 3_000 * 96 * 4"
# cause_cell = 5
# cause_line = "self.val_outputs.append("
# holder = ["trainer", "trainer.val_outputs", "val_outputs", "Trainer"]
# repair = "trainer.val_outputs.clear()"
# ///
# %% [markdown]
# # Autoencoder for vibration windows
# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
# %%
def windows(n, length=96, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length) / length
    f = torch.randint(2, 9, (n, 1), generator=g)
    a = torch.rand(n, 1, generator=g) + 0.5
    return a * torch.sin(2 * torch.pi * f * t) + 0.1 * torch.randn(n, length, generator=g)

train, val = windows(6_000), windows(3_000, seed=1)
train.shape, val.shape
# %%
mu, sd = train.mean(), train.std()
train, val = (train - mu) / sd, (val - mu) / sd
train_dl = DataLoader(TensorDataset(train), batch_size=200, shuffle=True)
val_dl = DataLoader(TensorDataset(val), batch_size=500)
# %%
class AE(nn.Module):
    def __init__(self, d=96, h=80):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.Tanh())
        self.dec = nn.Linear(h, d)

    def forward(self, x):
        return self.dec(self.enc(x))
# %%
class Trainer:
    def __init__(self, model, lr=2e-3):
        self.model = model
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        self.val_outputs = []
        self.log = {"train": [], "val": []}

    def training_step(self, x):
        loss = nn.functional.mse_loss(self.model(x), x)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def validation_step(self, x):
        recon = self.model(x)
        self.val_outputs.append((recon - x).pow(2))
        return nn.functional.mse_loss(recon, x).item()

    def fit(self, train_dl, val_dl, epochs):
        for _ in range(epochs):
            self.model.train()
            self.log["train"].append(np.mean([self.training_step(x) for (x,) in train_dl]))
            self.model.eval()
            self.log["val"].append(np.mean([self.validation_step(x) for (x,) in val_dl]))
# %%
net = AE()
trainer = Trainer(net)
trainer.fit(train_dl, val_dl, 12)
print([round(float(v), 3) for v in trainer.log["val"]])
# %%
fig, ax = plt.subplots(figsize=(4, 2.5))
for k, v in trainer.log.items():
    ax.semilogy(v, label=k)
ax.legend()
fig.savefig("curves.png", dpi=60)
plt.close(fig)
# %% [markdown]
# Broken bearings: windows with a kick
# %%
broken = windows(400, seed=2)
broken[:, 40:44] += 2.5
broken = (broken - mu) / sd
with torch.no_grad():
    e_ok = (net(val) - val).pow(2).mean(1)
    e_broken = (net(broken) - broken).pow(2).mean(1)
# %%
thr = torch.quantile(e_ok, 0.98)
tpr = (e_broken > thr).float().mean()
print(f"threshold {thr:.3f}, found {tpr:.2%}")
# %%
rank = torch.cat([e_ok, e_broken]).argsort(descending=True)
hits = (rank[:400] >= len(e_ok)).float().mean()
{"precision at 400": round(float(hits), 3), "params": sum(p.numel() for p in net.parameters())}
