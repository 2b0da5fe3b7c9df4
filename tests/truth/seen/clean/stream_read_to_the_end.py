# /// truth
# question = "hides"
# style = "long"
# needs = ["torch"]
# thread = "PyTorch forum on iterators of iterable data sets that stay suspended; here the stream goes on through several cells and its shard is in use until the last"
# ///
# %% [markdown]
# # Learn from a stream, in three sittings
# %%
from itertools import islice

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

torch.manual_seed(29)
# %%
class Stream(IterableDataset):
    def __iter__(self):
        g = torch.Generator().manual_seed(1)
        while True:
            shard = torch.randn(20_000, 120, generator=g)
            label = (shard[:, 0] * shard[:, 1] > 0).float()
            for k in range(0, 20_000, 100):
                yield shard[k : k + 100].clone(), label[k : k + 100].clone()
# %%
it = iter(DataLoader(Stream(), batch_size=None))
xb, yb = next(it)
print(xb.shape, yb.mean().item())
# %%
net = nn.Sequential(nn.Linear(120, 256), nn.Tanh(), nn.Linear(256, 1))
bce = nn.BCEWithLogitsLoss()
# %%
def sitting(n, lr):
    seen = []
    for x, t in islice(it, n):
        loss = bce(net(x)[:, 0], t)
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= lr * p.grad
        seen.append(loss.item())
    return seen
# %%
hist = sitting(150, 0.5)
print(f"{sum(hist[-20:]) / 20:.3f}")
# %%
hist += sitting(150, 0.3)
print(f"{sum(hist[-20:]) / 20:.3f}")
# %%
with torch.no_grad():
    w = net[0].weight.norm(dim=0)
w.topk(2).indices.tolist()
# %%
hist += sitting(150, 0.1)
# %%
pieces = torch.tensor(hist).split(50)
print([round(p.mean().item(), 3) for p in pieces])
# %%
hits = [((net(x)[:, 0] > 0).float() == t).float().mean().item() for x, t in islice(it, 20)]
print(f"accuracy on the next 20 batches {sum(hits) / 20:.3f}, after {len(hist)} steps")
