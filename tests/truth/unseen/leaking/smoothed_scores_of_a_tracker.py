# /// truth
# question = "hides"
# style = "long"
# needs = ["torch"]
# thread = "pytorch-lightning issue of 2020 and torchmetrics: the state of a metric keeps the graph of every update, fixed by detaching in the metric"
# leaked = "24 * 256 * 1024 * 4"
# cause_cell = 7
# cause_line = "out = net(xb)"
# holder = ["smoother", "smoother.state"]
# repair = "smoother.state = {k: float(v) for k, v in smoother.state.items()}; del out"
# ///
# %% [markdown]
# # Power forecast, small net, smoothed scores
# %%
import torch
from torch import nn

torch.manual_seed(11)
# %%
n = 24 * 256
hour = torch.arange(n) % 24
X = torch.randn(n, 48)
X[:, 0] = torch.sin(hour * 2 * torch.pi / 24)
y = (X[:, 0] * 2 + X[:, 1] * 0.5).unsqueeze(1) + 0.1 * torch.randn(n, 1)
mu, sd = y.mean(), y.std()
y = (y - mu) / sd
# %%
class Tracker:
    def __init__(self, momentum=0.9):
        self.momentum = momentum
        self.state = {}

    def update(self, **scores):
        for k, v in scores.items():
            old = self.state.get(k, v)
            self.state[k] = self.momentum * old + (1 - self.momentum) * v

    def __str__(self):
        return ", ".join(f"{k} {float(v):.3f}" for k, v in self.state.items())
# %%
net = nn.Sequential(nn.Linear(48, 1024), nn.ReLU(), nn.Linear(1024, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
# %%
for epoch in range(2):
    for i in torch.randperm(n).split(256):
        loss = nn.functional.mse_loss(net(X[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, round(loss.item(), 3))
# %%
opt.zero_grad()
net[0].weight.norm().item()
# %%
smoother = Tracker()
net.eval()
for xb, yb in zip(X.split(256), y.split(256)):
    out = net(xb)
    smoother.update(mse=nn.functional.mse_loss(out, yb), mae=(out - yb).abs().mean())
# %%
print(smoother)
# %%
with torch.no_grad():
    fit = torch.cat([net(b) for b in X.split(1024)])
err = (fit - y).abs().squeeze(1)
by_hour = torch.stack([err[hour == h].mean() for h in range(24)])
by_hour.topk(3).indices.tolist()
# %%
with torch.no_grad():
    naive = (y - y.roll(24, 0)).abs().mean().item()
print(f"yesterday as forecast: {naive:.3f}")
# %%
importance = net[0].weight.detach().abs().mean(0)
importance.topk(3).indices.tolist()
# %%
print(f"mean error {(by_hour.mean() * sd).item():.3f} kW, worst hour {int(by_hour.argmax())}")
