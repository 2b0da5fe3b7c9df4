# /// truth
# question = "hides"
# style = "long"
# needs = ["torch"]
# thread = "PyTorch forum on moving averages of losses and weights that keep graphs; detached as the answers say, the averaged weights are tested"
# ///
# %% [markdown]
# # Regression with averaged weights
# %%
import torch
from torch import nn

torch.manual_seed(17)
# %%
X = torch.randn(4096, 64)
y = torch.tanh(X[:, :8].sum(1, keepdim=True)) + 0.2 * torch.randn(4096, 1)
U, u, V, v = X[:3072], y[:3072], X[3072:], y[3072:]
# %%
def build():
    return nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))


net = build()
sum(p.numel() for p in net.parameters())
# %%
class Average:
    def __init__(self, net, decay=0.95):
        self.decay = decay
        self.shadow = {k: p.detach().clone() for k, p in net.named_parameters()}
        self.loss = None

    def update(self, net, loss):
        for k, p in net.named_parameters():
            self.shadow[k].lerp_(p.detach(), 1 - self.decay)
        v = loss.item()
        self.loss = v if self.loss is None else self.decay * self.loss + (1 - self.decay) * v
# %%
avg, hist, step = Average(net), [], 0
for epoch in range(4):
    for i in torch.randperm(3072).split(128):
        loss = nn.functional.mse_loss(net(U[i]), u[i])
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.05 * p.grad
        avg.update(net, loss)
    hist.append(avg.loss)
# %%
print([round(h, 3) for h in hist])
# %%
smooth = build()
smooth.load_state_dict(avg.shadow)
# %%
@torch.no_grad()
def mse(m):
    return nn.functional.mse_loss(m(V), v).item()


print(f"last {mse(net):.4f}, averaged {mse(smooth):.4f}")
# %%
dist = {k: (p.detach() - avg.shadow[k]).norm().item() for k, p in net.named_parameters()}
{k: round(d, 3) for k, d in dist.items()}
# %%
with torch.no_grad():
    res = (smooth(V) - v).flatten()
print(f"residual sd {res.std():.3f}")
# %%
corr = torch.corrcoef(torch.stack([res.abs(), V[:, :8].sum(1).abs()]))[0, 1].item()
# %%
print(f"take the averaged net: {mse(smooth):.4f}, residuals and distance {corr:+.2f}")
