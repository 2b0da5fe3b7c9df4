# /// truth
# question = "hides"
# style = "long"
# needs = ["torch"]
# thread = "PyTorch forum on the best model kept during training: state dict copied, loss kept as a number, put back at the end"
# ///
# %% [markdown]
# # Early stopping
# %%
import copy

import torch
from torch import nn

torch.manual_seed(23)
# %%
centers = torch.randn(6, 100) * 0.6
label = torch.randint(0, 6, (3000,))
X = centers[label] + torch.randn(3000, 100)
# %%
tr, va, te = torch.randperm(3000).split([1600, 700, 700])
print(label[tr].bincount().tolist())
# %%
wide = [nn.Linear(100, 2048), nn.ReLU(), nn.Dropout(0.3)]
net = nn.Sequential(*wide, nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 6))
crit = nn.CrossEntropyLoss()
# %%
@torch.no_grad()
def evaluate(idx):
    net.eval()
    out = net(X[idx])
    net.train()
    return crit(out, label[idx]).item(), (out.argmax(1) == label[idx]).float().mean().item()
# %%
best = {"epoch": -1, "loss": float("inf"), "state": None}
hist = []
for epoch in range(12):
    for i in tr[torch.randperm(1600)].split(100):
        loss = crit(net(X[i]), label[i])
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.1 * p.grad
    val, acc = evaluate(va)
    hist.append((loss.item(), val, acc))
    if val < best["loss"]:
        best = {"epoch": epoch, "loss": val, "state": copy.deepcopy(net.state_dict())}
# %%
for e, (a, b, c) in enumerate(hist):
    print(f"{e:2} {a:.3f} {b:.3f} {c:.3f}" + (" *" if e == best["epoch"] else ""))
# %%
last = evaluate(te)
net.load_state_dict(best["state"])
# %%
loss, acc = evaluate(te)
print(f"last {last[1]:.3f}, best {acc:.3f}")
# %%
moved = sum((p.detach() - best["state"][k]).abs().sum().item() for k, p in net.named_parameters())
assert moved == 0
# %%
with torch.no_grad():
    pred = net.eval()(X[te]).argmax(1)
conf = torch.zeros(6, 6, dtype=torch.long)
for t, p in zip(label[te].tolist(), pred.tolist()):
    conf[t, p] += 1
# %%
recall = conf.diag() / conf.sum(1)
print(f"stopped after epoch {best['epoch']}, accuracy {acc:.3f}, lowest recall {recall.min():.2f}")
