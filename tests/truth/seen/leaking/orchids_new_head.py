# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "numpy", "matplotlib"]
# thread = "PyTorch forum, 2018 to 2021: last layer exchanged before fine-tuning, the optimizer goes on holding parameters and moments of the old one"
# leaked = "3 * 4 * (1280 * 2500 + 2500)"
# cause_cell = 5
# cause_line = "optim.step()"
# holder = ["optim", "optim.param_groups", "optim.state", "Adam", "param_groups"]
# repair = "old = optim.param_groups[0]['params'][-2:]; [optim.state.pop(p) for p in old]; del optim.param_groups[0]['params'][-2:], old"
# ///
# %%
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(42); np.random.seed(42)
# %%
class FlowerNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(512, 1280), nn.ReLU())
        self.head = nn.Linear(1280, classes)
    def forward(self, x):
        return self.head(self.body(x))
# %%
def fake_photos(n, classes):
    y = torch.randint(0, classes, (n,))
    x = torch.randn(n, 3, 32, 32) + (y.float() / classes)[:, None, None, None]
    return x, y
# %%
net = FlowerNet(2500)
optim = torch.optim.Adam(net.parameters(), lr=3e-4)
sum(p.numel() for p in net.parameters())
# %%
def fit(x, y, epochs=1, bs=32):
    hist = []
    for ep in range(epochs):
        for i in range(0, len(x), bs):
            optim.zero_grad()
            loss = F.cross_entropy(net(x[i:i + bs]), y[i:i + bs])
            loss.backward()
            optim.step()
            hist.append(loss.item())
    return hist
# %%
pre = fit(*fake_photos(160, 2500))
print(pre[0], pre[-1])
# %% [markdown]
# Now the orchids: 14 species
# %%
net.head = nn.Linear(1280, 14)
optim.add_param_group({"params": net.head.parameters(), "lr": 1e-3})
# %%
X, Y = fake_photos(320, 14)
cut = 256
tune = fit(X[:cut], Y[:cut], epochs=2)
# %%
net.eval()
with torch.no_grad():
    pred = net(X[cut:]).argmax(1)
acc = (pred == Y[cut:]).float().mean().item()
acc
# %%
conf = np.zeros((14, 14), int)
for t, p in zip(Y[cut:].tolist(), pred.tolist()):
    conf[t, p] += 1
conf.diagonal()
# %%
import matplotlib.pyplot as plt
plt.plot(np.convolve(tune, np.ones(4) / 4, "valid")); plt.savefig("tune.png"); plt.close("all")
# %%
print(f"pretrained on {len(pre)} batches, tuned on {len(tune)}, acc {acc:.2f}")
