# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "numpy", "matplotlib"]
# thread = "PyTorch forum, 2018 to 2021: last layer exchanged before fine-tuning; a new optimizer is made over the new parameters"
# ///
# %%
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
# %%
torch.manual_seed(6)
def leaves(n, k):
    y = torch.randint(0, k, (n,))
    grid = torch.linspace(0, 3.14, 24)
    x = torch.sin(grid[None, :, None] * (1 + y[:, None, None] % 5)) * torch.cos(grid[None, None, :] * (1 + y[:, None, None] // 5))
    return (x + .5 * torch.randn(n, 24, 24))[:, None], y
# %%
trunk = nn.Sequential(nn.Conv2d(1, 12, 5, 2), nn.ReLU(), nn.Flatten(), nn.Linear(1200, 1000), nn.ReLU())
head = nn.Linear(1000, 1800)
net = nn.Sequential(trunk, head)
# %%
def run(net, opt, x, y, epochs):
    seen = []
    for _ in range(epochs):
        for i in torch.randperm(len(x)).split(40):
            loss = F.cross_entropy(net(x[i]), y[i])
            opt.zero_grad(); loss.backward(); opt.step()
            seen.append(loss.item())
    return seen
# %%
opt = torch.optim.Adam(net.parameters(), 1e-3)
first = run(net, opt, *leaves(120, 1800), 1)
print(f"{first[-1]:.2f}")
# %%
head = nn.Linear(1000, 10)
net[1] = head
opt = torch.optim.Adam([{"params": trunk.parameters(), "lr": 2e-4}, {"params": head.parameters(), "lr": 2e-3}])
# %%
x, y = leaves(400, 10)
tuned = run(net, opt, x[:320], y[:320], 3)
# %%
net.eval()
with torch.no_grad(): pred = net(x[320:]).argmax(1)
acc = (pred == y[320:]).float().mean().item()
acc
# %%
conf = np.histogram2d(y[320:].numpy(), pred.numpy(), bins=10)[0]
int(conf.trace()), int(conf.sum())
# %%
fig, ax = plt.subplots(1, 2, figsize=(7, 3))
ax[0].plot(tuned); ax[1].imshow(conf)
fig.savefig("leaves.png"); plt.close(fig)
# %%
torch.manual_seed(7)
xn, yn = leaves(60, 10)
with torch.no_grad(): new = (net(xn).argmax(1) == yn).float().mean().item()
print("new leaves", round(new, 2))
print(f"{acc:.2f} after {len(tuned)} steps with {sum(len(g['params']) for g in opt.param_groups)} tensors")
