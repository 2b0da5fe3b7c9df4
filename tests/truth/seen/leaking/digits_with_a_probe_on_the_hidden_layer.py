# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "sklearn", "matplotlib"]
# thread = "MRFI pull request of 2026: hooks are registered, their handles thrown away, and each further instance leaves closures behind that nobody removes"
# leaked = "12 * 1500 * 512 * 4 + 297 * 512 * 4"
# cause_cell = 4
# cause_line = "self.rows.append(out.detach().relu())"
# holder = ["net[0]._forward_hooks", "_forward_hooks", "forward hook", "Probe", "Probe.grab"]
# repair = "net[0]._forward_hooks.clear()"
# ///
# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(3)
# %%
d = load_digits()
X = torch.tensor(d.data / 16.0, dtype=torch.float32)
y = torch.tensor(d.target)
perm = torch.randperm(len(X))
tr, te = perm[:1500], perm[1500:]
X.shape
# %%
net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Dropout(0.2), nn.Linear(512, 10))
sum(p.numel() for p in net.parameters())
# %%
class Probe:
    """how many units are alive?"""

    def __init__(self):
        self.rows = []

    def grab(self, mod, args, out):
        self.rows.append(out.detach().relu())

    def alive(self):
        return (self.rows[-1] > 0).any(0).float().mean().item()


def probe(layer):
    p = Probe()
    layer.register_forward_hook(p.grab)
    return p


# %%
def alive_now():
    p = probe(net[0])
    net(X[:1])
    return p.alive()


print("alive before training:", alive_now())
# %%
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
curve = []
for epoch in range(12):
    net.train()
    opt.zero_grad()
    loss = F.cross_entropy(net(X[tr]), y[tr])
    loss.backward()
    opt.step()
    curve.append(loss.item())
# %%
net.eval()
with torch.no_grad():
    pred = net(X[te]).argmax(1)
acc = (pred == y[te]).float().mean().item()
print(f"test accuracy {acc:.3f}")
# %%
conf = np.zeros((10, 10), int)
np.add.at(conf, (y[te].numpy(), pred.numpy()), 1)
conf
# %%
fig, (a, b) = plt.subplots(1, 2, figsize=(7, 3))
a.plot(curve)
b.imshow(conf)
plt.close(fig)
# %%
off = conf - np.diag(np.diag(conf))
i, j = np.unravel_index(off.argmax(), off.shape)
print(f"most often mixed up: {i} read as {j}, {off[i, j]} times")
