# /// truth
# question = "grows"
# style = "long"
# needs = ["torch", "pandas", "matplotlib"]
# thread = "PyTorch forum, about 2019: register_hook on a weight inside of the training loop, each step is slower than the one before and memory rises, the hooks are never removed"
# leaked = "20 * 21 / 2 * 192 * 192 * 4"
# cause_cell = 5
# cause_line = "lambda g: grads[name].append(g.clone())"
# holder = ["grads", "watch", "hook", "_backward_hooks", "net"]
# repair = "grads.clear(); net.mid.weight._backward_hooks.clear()"
# ///
# %% [markdown]
# # Copy task: a recurrent net without gates
# %%
from collections import defaultdict

import matplotlib.pyplot as plt
import pandas as pd
import torch
from torch import nn

torch.manual_seed(5)
# %%
def copy_batch(n=64, length=6, gap=8, k=7):
    x = torch.zeros(n, 2 * length + gap, k + 1)
    s = torch.randint(k, (n, length))
    x[:, :length].scatter_(2, s[..., None], 1.0)
    x[:, length + gap :, k] = 1
    return x, s
# %%
class Rnn(nn.Module):
    def __init__(self, d=8, h=192, out=7):
        super().__init__()
        self.inp, self.mid, self.out = nn.Linear(d, h), nn.Linear(h, h), nn.Linear(h, out)
        nn.init.orthogonal_(self.mid.weight)

    def forward(self, x, n_out=6):
        h = torch.zeros(len(x), self.mid.in_features)
        ys = []
        for t in range(x.shape[1]):
            h = torch.tanh(self.inp(x[:, t]) + self.mid(h))
            ys.append(self.out(h))
        return torch.stack(ys[-n_out:], 1)
# %%
net = Rnn()
opt = torch.optim.Adam(net.parameters(), 1e-3)
x, s = copy_batch()
net(x).shape
# %%
grads = defaultdict(list)

def watch(name, p):
    p.register_hook(lambda g: grads[name].append(g.clone()))
# %%
rows = []
for step in range(20):
    x, s = copy_batch()
    watch("mid", net.mid.weight)
    loss = nn.functional.cross_entropy(net(x).flatten(0, 1), s.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    rows.append({"step": step, "loss": loss.item(), "grad": grads["mid"][-1].norm().item()})
opt.zero_grad()
# %%
log = pd.DataFrame(rows).set_index("step")
print(log.iloc[::5].round(4))
# %%
ax = log.loss.plot(figsize=(4, 2))
ax.axhline(torch.log(torch.tensor(7.0)), color="k", lw=0.5)
ax.figure.savefig("copy.png", dpi=60)
plt.close(ax.figure)
# %%
with torch.no_grad():
    eig = torch.linalg.eigvals(net.mid.weight)
print(f"spectral radius {eig.abs().max():.3f}, {int((eig.abs() > 1).sum())} outside")
# %%
acc = {}
for gap in (2, 8, 16):
    xg, sg = copy_batch(256, gap=gap)
    with torch.no_grad():
        acc[gap] = (net(xg).argmax(-1) == sg).float().mean().item()
pd.Series(acc).round(3)
# %%
print(f"loss {log.loss.iloc[-1]:.3f} after {len(log)} steps, gradient {log.grad.mean():.3f}")
