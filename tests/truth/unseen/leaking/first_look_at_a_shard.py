# /// truth
# question = "hides"
# style = "long"
# needs = ["torch"]
# thread = "PyTorch forum on next(iter(loader)) of iterable data sets, 2019 and later: the iterator made for a look stays suspended with what its generator has loaded"
# leaked = "60_000 * 160 * 4 + 60_000 * 8"
# cause_cell = 2
# cause_line = "shard = torch.randn("
# holder = ["peek_it"]
# repair = "del peek_it"
# ///
# %% [markdown]
# # Streaming classifier, data in shards
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

torch.manual_seed(5)
# %%
class Shards(IterableDataset):
    def __init__(self, n_shards, rows=60_000):
        self.n_shards, self.rows = n_shards, rows

    def __iter__(self):
        for s in range(self.n_shards):
            shard = torch.randn(self.rows, 160)
            label = (shard[:, :3].sum(1) > 0).long()
            for k in range(self.rows):
                yield shard[k], label[k]


# what does a batch look like?
peek_it = iter(DataLoader(Shards(2), batch_size=64))
xb, yb = next(peek_it)
print(xb.shape, yb.float().mean().item())
# %%
net = nn.Sequential(nn.Linear(160, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
# %%
with torch.no_grad():
    print("before:", nn.functional.cross_entropy(net(xb), yb).item())
# %%
def steps(rows):
    for xb, yb in DataLoader(Shards(1, rows), batch_size=128):
        loss = nn.functional.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield loss.item()
# %%
hist = []
for epoch in range(3):
    hist += steps(6000)
    print(epoch, round(sum(hist[-10:]) / 10, 3))
# %%
@torch.no_grad()
def accuracy(rows=4000):
    hit = [(net(x).argmax(1) == y).float().mean().item() for x, y in DataLoader(Shards(1, rows), batch_size=500)]
    return sum(hit) / len(hit)
# %%
acc = accuracy()
print(f"accuracy {acc:.3f}")
# %%
opt.param_groups[0]["lr"] = 0.01
hist += steps(6000)
# %%
weights = net[0].weight.detach().norm(dim=0)
weights.topk(3).indices.tolist()
# %%
smooth = torch.tensor(hist).unfold(0, 20, 20).mean(1)
print([round(v, 2) for v in smooth.tolist()])
# %%
print(f"{len(hist)} steps, loss {hist[0]:.2f} to {hist[-1]:.2f}, accuracy {accuracy():.3f}")
