# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch issue of 2019: itertools.cycle around a DataLoader stores every batch that it handed out"
# leaked = "14 * 64 * 3 * 64 * 64 * 4"     # of 15 batches the last one has a name
# cause_cell = 1
# cause_line = "x = next(batch_iter)"
# holder = ["batch_iter"]
# repair = "del batch_iter"
# ///
# %%
from itertools import cycle
import torch
from torch.utils.data import DataLoader, Dataset

class Patches(Dataset):
    def __len__(self):
        return 50_000
    def __getitem__(self, i):
        return torch.full((3, 64, 64), i / 50_000) + torch.randn(1)

batch_iter = cycle(DataLoader(Patches(), batch_size=64))
means = []
for step in range(15):
    x = next(batch_iter)
    means.append(x.mean().item())
# %%
print(f"{sum(means) / len(means):.3f}")
