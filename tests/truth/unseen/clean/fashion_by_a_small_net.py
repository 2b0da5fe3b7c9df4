# /// truth
# question = "unused"
# style = "short"
# needs = ["torch"]
# thread = "Look-alike of the reports on last batches, as GitHub, LearningByCheating, 2020: a loop leaves its variables, and they are small"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(2)
proto = torch.randn(10, 28 * 28)
y = torch.randint(0, 10, (6_000,))
X = proto[y] + 3 * torch.randn(6_000, 28 * 28)
net = nn.Sequential(nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
# %%
for idx in torch.randperm(5_000).split(64):
    xb, yb = X[idx], y[idx]
    out = net(xb)
    loss = nn.functional.cross_entropy(out, yb)
    opt.zero_grad(); loss.backward(); opt.step()
# %%
with torch.no_grad():
    print("accuracy", (net(X[5_000:]).argmax(1) == y[5_000:]).float().mean().item())
# %%
torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, "net.pt")
print(net(X[:3]).argmax(1), y[:3])
