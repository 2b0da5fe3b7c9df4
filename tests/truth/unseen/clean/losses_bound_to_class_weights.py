# /// truth
# question = "hides"
# style = "long"
# needs = ["torch"]
# thread = "Stack Overflow on functools.partial and what it keeps; here the bound teacher logits and weights are what the losses need, in use until the end"
# ///
# %% [markdown]
# # A small net learns from a large one
# %%
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(31)
# %%
X = torch.randn(6000, 80)
label = (X[:, 0] > 0).long() + 2 * (X[:, 1] > 0.8).long()
label.bincount().tolist()
# %%
teacher = nn.Sequential(nn.Linear(80, 1500), nn.ReLU(), nn.Linear(1500, 4))
student = nn.Sequential(nn.Linear(80, 16), nn.ReLU(), nn.Linear(16, 4))
# %%
def descend(net, loss_of, epochs, lr):
    out = []
    for _ in range(epochs):
        for i in torch.randperm(5000).split(250):
            loss = loss_of(net(X[i]), i)
            net.zero_grad()
            loss.backward()
            with torch.no_grad():
                for p in net.parameters():
                    p -= lr * p.grad
        out.append(loss.item())
    return out
# %%
def hard(out, i, target, weight):
    return F.cross_entropy(out, target[i], weight=weight)


def soft(out, i, logits, T):
    return F.kl_div((out / T).log_softmax(1), (logits[i] / T).softmax(1), reduction="batchmean") * T * T
# %%
weight = 1 / label.bincount().float()
hard_loss = partial(hard, target=label, weight=weight / weight.sum())
h1 = descend(teacher, hard_loss, 4, 0.3)
print([round(v, 3) for v in h1])
# %%
with torch.no_grad():
    soft_loss = partial(soft, logits=teacher(X), T=2.0)
# %%
h2 = descend(student, soft_loss, 4, 0.1)
# %%
h2 += descend(student, lambda out, i: 0.5 * soft_loss(out, i) + 0.5 * hard_loss(out, i), 2, 0.05)
print([round(v, 3) for v in h2])
# %%
@torch.no_grad()
def acc(net):
    return (net(X[5000:]).argmax(1) == label[5000:]).float().mean().item()


print(f"teacher {acc(teacher):.3f}, student {acc(student):.3f}")
# %%
with torch.no_grad():
    out = student(X[5000:])
    test = torch.arange(5000, 6000)
    print(f"test: soft {soft_loss(out, test).item():.3f}, hard {hard_loss(out, test).item():.3f}")
