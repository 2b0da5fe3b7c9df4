# /// truth
# question = "hides"
# style = "long"
# needs = ["torch", "matplotlib"]
# thread = "PyTorch issues on schedulers and optimizers, 2018 to 2022: a scheduler refers to its optimizer, which keeps parameters, gradients and moments of a net that is done"
# leaked = "4 * 4 * (2 * 256 * 1024 + 1024 + 256) * 4"     # weights, gradient, two moments
# cause_cell = 4
# cause_line = "opt.step()"
# holder = ["lr_runs", "sched"]
# repair = "for r in lr_runs: del r['sched']"
# ///
# %% [markdown]
# # Autoencoder: which learning rate?
# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

DIM = 256
# %%
torch.manual_seed(0)
basis = torch.randn(12, DIM)
data = torch.randn(1024, 12) @ basis + 0.05 * torch.randn(1024, DIM)
data = (data - data.mean(0)) / data.std(0)
train, test = data[:896], data[896:]
# %%
def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(DIM, 1024), nn.Tanh(), nn.Linear(1024, DIM))
# %%
def fit(lr, epochs=6):
    net = build(1)
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    hist = []
    for _ in range(epochs):
        for xb in train.split(128):
            loss = nn.functional.mse_loss(net(xb), xb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        hist.append(loss.item())
    with torch.no_grad():
        err = nn.functional.mse_loss(net(test), test).item()
    return {"lr": lr, "hist": hist, "test": err, "sched": sched}
# %%
lr_runs = [fit(lr) for lr in (1e-4, 3e-4, 1e-3, 3e-3)]
# %%
for r in lr_runs:
    print(f"{r['lr']:8g} train {r['hist'][-1]:.4f} test {r['test']:.4f}")
# %%
fig, ax = plt.subplots(figsize=(4, 3))
for r in lr_runs:
    ax.semilogy(r["hist"], label=r["lr"])
ax.legend()
fig.savefig("lr.png")
plt.close(fig)
# %%
lr, err = min(((r["lr"], r["test"]) for r in lr_runs), key=lambda p: p[1])
print(f"best lr {lr:g}")
# %%
pca = torch.linalg.svdvals(train[:256])
share = (pca[:12].square().sum() / pca.square().sum()).item()
print(f"12 components explain {share:.2%}")
# %%
gap = {r["lr"]: round(r["test"] - r["hist"][-1], 4) for r in lr_runs}
sorted(gap, key=gap.get)
# %%
drop = {r["lr"]: r["hist"][0] / r["hist"][-1] for r in lr_runs}
print({k: round(v, 1) for k, v in drop.items()})
# %%
print(f"take lr {lr:g}: test error {err:.4f}, {len(lr_runs)} tried")
