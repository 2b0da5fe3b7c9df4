# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "matplotlib"]
# thread = "PyTorch forum and tracker, about 2020: cache decoded samples in __getitem__, memory rises in the first epoch and stays, which is what one wants for a small data set"
# ///
# %% [markdown]
# # Bird or not? Spectrograms of short clips
# %%
import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(2)
# %%
def clip(i, n=16_384):
    g = torch.Generator().manual_seed(i)
    t = torch.arange(n) / 16_000
    x = 0.3 * torch.randn(n, generator=g)
    if i % 2:
        f = 2_000 + 1_500 * torch.rand(1, generator=g)
        x += torch.sin(2 * torch.pi * (f + 600 * torch.sin(20 * t)) * t)
    return x, i % 2
# %%
class Clips(Dataset):
    def __init__(self, n):
        self.n, self.cache, self.misses = n, {}, 0

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i not in self.cache:
            x, y = clip(i)
            s = torch.stft(x, 512, 256, window=torch.hann_window(512), return_complex=True).abs().log1p()
            self.cache[i] = (s[None, :256, :64].clone(), y)
            self.misses += 1
        return self.cache[i]
# %%
ds = Clips(240)
train, val = random_split(ds, [200, 40], torch.Generator().manual_seed(0))
train_dl = DataLoader(train, batch_size=20, shuffle=True)
val_dl = DataLoader(val, batch_size=40)
# %%
net = nn.Sequential(
    nn.AvgPool2d(4), nn.Conv2d(1, 8, 5, stride=2), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 2),
)
opt = torch.optim.Adam(net.parameters(), 3e-3)
# %%
history = []
for epoch in range(6):
    for s, y in train_dl:
        loss = nn.functional.cross_entropy(net(s), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        s, y = next(iter(val_dl))
        history.append({"loss": loss.item(), "acc": (net(s).argmax(1) == y).float().mean().item(), "misses": ds.misses})
history[-1]
# %%
fig, ax = plt.subplots(figsize=(4, 2))
ax.plot([h["acc"] for h in history], "o-")
fig.savefig("acc.png", dpi=60)
plt.close(fig)
# %% [markdown]
# What do the clips look like on average?
# %%
mean = {0: torch.zeros(256, 64), 1: torch.zeros(256, 64)}
for i in range(len(ds)):
    s, y = ds[i]
    mean[y] += s[0] / (len(ds) / 2)
diff = mean[1] - mean[0]
print("most different bin", int(diff.mean(1).argmax()) * 31.25, "Hz")
# %%
wrong = []
with torch.no_grad():
    for i in val.indices:
        s, y = ds[i]
        p = net(s[None]).softmax(1)[0, 1].item()
        if (p > 0.5) != bool(y):
            wrong.append((i, round(p, 2)))
print(wrong)
# %%
print(f"{ds.misses} clips made, {len(ds.cache)} in the cache, accuracy {history[-1]['acc']:.2f}")
