# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "matplotlib"]
# thread = "GitHub, pytorch, 2019: itertools.cycle around a loader, memory grows in the first epoch and does not fall after the loader was deleted"
# leaked = "4 * 6400 * 28 * 28 + 8 * 6400"
# cause_cell = 8
# cause_line = "xb, yb = next(batches)"
# holder = ["batches", "cycle", "itertools.cycle"]
# repair = "del batches"
# ///
# %%
import gc
from itertools import cycle
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
import matplotlib.pyplot as plt
# %%
class Strokes(Dataset):
    """Bars at ten angles, 28 x 28, made when they are asked for."""
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i):
        if i >= self.n: raise IndexError
        k = i % 10
        g = torch.Generator().manual_seed(i)
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, 28), torch.linspace(-1, 1, 28), indexing="ij")
        a = torch.tensor(k * torch.pi / 10)
        img = ((yy * a.cos() - xx * a.sin()).abs() < .12).float()
        return img + .2 * torch.randn(28, 28, generator=g), k
# %%
ds = Strokes(6400)
x0, y0 = ds[13]
x0.shape, y0
# %%
fig, axs = plt.subplots(1, 5)
for i, ax in enumerate(axs): ax.imshow(ds[i][0]); ax.axis("off")
plt.close(fig)
# %%
loader = DataLoader(ds, batch_size=128, drop_last=True)
batches = cycle(loader)
# %%
torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), 2e-3)
# %%
def smooth(xs, k=5):
    return [sum(xs[i:i + k]) / k for i in range(0, len(xs) - k + 1, k)]
# %%
losses = []
for step in range(120):
    xb, yb = next(batches)
    loss = nn.functional.cross_entropy(net(xb), yb)
    opt.zero_grad(); loss.backward(); opt.step()
    losses.append(loss.item())
smooth(losses)[::6]
# %%
del loader, ds, xb, yb
gc.collect()
# %%
test = Strokes(7000)
xt, yt = zip(*[test[i] for i in range(6400, 7000)])
xt, yt = torch.stack(xt), torch.tensor(yt)
# %%
with torch.no_grad():
    hit = net(xt).argmax(1) == yt
hit.float().mean()
# %%
per_angle = {k * 18: hit[yt == k].float().mean().item() for k in range(10)}
print(min(per_angle, key=per_angle.get), "degrees is hardest; final loss", round(losses[-1], 4))
