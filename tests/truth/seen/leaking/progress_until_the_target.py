# /// truth
# question = "hides"
# style = "long"
# needs = ["torch", "tqdm"]
# thread = "tqdm issues of 2018 to 2020 on memory: the bar refers to the iterable that it was made from, after a break as well"
# leaked = "40 * 256 * 512 * 4 - 256 * 512 * 4"     # one batch has a name
# cause_cell = 4
# cause_line = "X[i] + 0.1 * torch.randn("
# holder = ["pbar", "pbar.iterable"]
# repair = "del pbar"
# ///
# %% [markdown]
# # Train until the target is reached
# %%
import torch
from torch import nn
from tqdm import tqdm

torch.manual_seed(8)
TARGET = 0.2
# %%
X = torch.randn(2048, 512)
w = torch.randn(512, 1) / 16
y = X @ w + 0.05 * torch.randn(2048, 1)
y.std().item()
# %%
net = nn.Linear(512, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
# %%
def augmented(n):
    out = []
    for _ in range(n):
        i = torch.randint(0, 2048, (256,))
        out.append((X[i] + 0.1 * torch.randn(256, 512), y[i]))
    return out
# %%
pbar = tqdm(augmented(40), desc="train", leave=False)
hist = []
for xb, yb in pbar:
    loss = nn.functional.mse_loss(net(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    hist.append(loss.item())
    if hist[-1] < TARGET:
        break
# %%
print(f"{pbar.n} of {pbar.total} batches, loss {hist[-1]:.3f}")
# %%
with torch.no_grad():
    fit = net(X)
r2 = 1 - ((y - fit).square().sum() / (y - y.mean()).square().sum()).item()
round(r2, 3)
# %%
err = (net.weight.detach().T - w).norm() / w.norm()
print(f"weights off by {err.item():.1%}")
# %%
half = next((k for k, v in enumerate(hist) if v < hist[0] / 2), None)
print("half of the loss after", half, "batches")
# %%
res = (y - fit).flatten()
torch.quantile(res, torch.tensor([0.05, 0.5, 0.95])).tolist()
# %%
big = res.abs().topk(5).indices.tolist()
print("look at rows", big)
# %%
print(f"R2 {r2:.3f}, residual sd {res.std():.3f}, {len(hist)} steps")
