# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "numpy", "matplotlib"]
# thread = "GitHub issues on background data loaders, about 2018 to 2021: the queue of the prefetch thread has no maxsize, the producer runs ahead and batches pile up"
# leaked = "(100 - 40) * 64 * 3 * 32 * 32 * 4"
# cause_cell = 3
# cause_line = "return x.astype(np.float32), y"
# holder = ["loader", "loader.q", "queue", "Queue", "Prefetcher", "q"]
# repair = "loader.q.queue.clear()"
# ///
# %% [markdown]
# # Shapes: does a small net tell discs from squares?
# %%
import queue
import threading

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
# %%
S = 32
yy, xx = np.mgrid[:S, :S]

def shape(rng, kind):
    cx, cy, r = rng.uniform(10, 22), rng.uniform(10, 22), rng.uniform(4, 9)
    if kind:
        m = (np.abs(xx - cx) < r) & (np.abs(yy - cy) < r)
    else:
        m = (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
    return m[None] * rng.uniform(0.4, 1.0, (3, 1, 1))
# %%
def make_batch(i, n=64):
    rng = np.random.default_rng(i)
    y = rng.integers(0, 2, n)
    x = np.stack([shape(rng, k) for k in y]) + 0.1 * rng.normal(size=(n, 3, S, S))
    return x.astype(np.float32), y

x0, y0 = make_batch(0)
x0.shape, y0.mean()
# %%
class Prefetcher:
    """Makes batches in a thread so that the net never waits."""

    def __init__(self, make, n):
        self.make, self.n = make, n
        self.q = queue.Queue()
        self.thread = threading.Thread(target=self._fill, daemon=True)
        self.thread.start()

    def _fill(self):
        for i in range(self.n):
            batch = self.make(i)
            self.q.put(batch)

    def __iter__(self):
        for _ in range(self.n):
            yield self.q.get()
# %%
net = nn.Sequential(
    nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
    nn.Flatten(), nn.Linear(16 * 7 * 7, 2),
)
opt = torch.optim.Adam(net.parameters(), 2e-3)
# %%
loader = Prefetcher(make_batch, 100)
losses = []
for step, (x, y) in enumerate(loader, 1):
    out = net(torch.from_numpy(x))
    loss = nn.functional.cross_entropy(out, torch.from_numpy(y))
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if step == 40:
        break
loader.thread.join()
# %%
smooth = np.convolve(losses, np.ones(8) / 8, mode="valid")
fig, ax = plt.subplots(figsize=(4, 2))
ax.plot(smooth)
fig.savefig("loss.png", dpi=60)
plt.close(fig)
# %%
xt, yt = make_batch(9_999, 400)
with torch.no_grad():
    p = net(torch.from_numpy(xt)).softmax(1)[:, 1].numpy()
acc = ((p > 0.5) == yt).mean()
print(f"{acc:.3f}")
# %%
edges = np.linspace(0, 1, 6)
which = np.digitize(p, edges[1:-1])
for b in range(5):
    sel = which == b
    if sel.any():
        print(f"{edges[b]:.1f}-{edges[b + 1]:.1f}  n={sel.sum():3d}  squares={yt[sel].mean():.2f}")
# %%
w = net[0].weight.detach()
{"acc": round(float(acc), 3), "filter norm": [round(float(v), 2) for v in w.flatten(1).norm(dim=1)]}
