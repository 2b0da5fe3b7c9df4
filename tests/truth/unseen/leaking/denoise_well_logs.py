# /// truth
# question = "unused"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "GitHub, denoising-diffusion-pytorch, 2022: locals of the training step hold their storage after the last step, the FAQ of PyTorch says to delete them"
# leaked = "4 * 2500 * (2048 + 64 + 64 + 64 + 64)"
# cause_cell = 6
# cause_line = "h = enc(noisy)"
# holder = ["h", "noisy", "out", "xb", "loss"]
# repair = "del xb, noisy, h, out, loss"
# ///
# %% [markdown]
# # A small denoiser for well logs
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(4)
# %%
def windows(n=7_500, width=64, seed=9):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, width)
    f, ph = rng.uniform(1, 5, (n, 1)), rng.uniform(0, 6, (n, 1))
    return (np.sin(2 * np.pi * f * t + ph) + rng.normal(0, 1, (n, 1)) * t).astype("float32")
# %%
X = torch.from_numpy(windows())
X.mean().item(), X.std().item()
# %%
hold = torch.from_numpy(windows(600, seed=10))
sigma = 0.4
hold_noisy = hold + sigma * torch.randn_like(hold)
# %%
enc = nn.Sequential(nn.Linear(64, 2048), nn.ReLU())
dec = nn.Linear(2048, 64)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=2e-3)
# %%
hist = []
for epoch in range(6):
    for idx in torch.randperm(len(X)).split(2500):
        xb = X[idx]
        noisy = xb + sigma * torch.randn_like(xb)
        h = enc(noisy)
        out = dec(h)
        loss = nn.functional.mse_loss(out, xb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    hist.append(loss.item())
# %%
log = pd.Series(hist, name="mse")
log.round(4)
# %%
@torch.no_grad()
def clean(w):
    return dec(enc(w))


err = (clean(hold_noisy) - hold).pow(2).mean(1)
print("before", (hold_noisy - hold).pow(2).mean().item(), "after", err.mean().item())
# %%
k = int(err.argmax())
fig, ax = plt.subplots(figsize=(4, 2.5))
ax.plot(hold[k].numpy())
ax.plot(clean(hold_noisy[k : k + 1])[0].numpy())
fig.savefig("worst.png", dpi=60)
plt.close(fig)
# %%
table = pd.DataFrame({"err": err.numpy(), "range": np.ptp(hold.numpy(), axis=1)})
table.corr().iloc[0, 1].round(3)
# %%
steps = [0.1, 0.2, 0.4, 0.8]
curve = [(clean(hold + s * torch.randn_like(hold)) - hold).pow(2).mean().item() for s in steps]
print(dict(zip(steps, np.round(curve, 4))), "trained at", sigma, "last", log.iloc[-1])
