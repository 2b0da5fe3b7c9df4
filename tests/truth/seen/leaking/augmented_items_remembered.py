# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "GitHub issue of 2019 on a dataset wrapper: items are memoized in __getitem__, RAM rises through the whole training"
# leaked = "5 * 100 * 3 * 80 * 80 * 4"
# cause_cell = 2
# cause_line = "img = self.base[i].flip(-1)"
# holder = ["ds", "ds.seen", "Faces"]
# repair = "ds.seen.clear()"
# ///
# %%
import torch
from torch.utils.data import Dataset, DataLoader
torch.manual_seed(0)
# %%
class Faces(Dataset):
    def __init__(self, n):
        self.base, self.epoch, self.seen = torch.rand(n, 3, 80, 80), 0, {}
    def __len__(self):
        return len(self.base)
    def __getitem__(self, i):
        key = (self.epoch, i)
        if key not in self.seen:
            img = self.base[i].flip(-1) * (0.8 + 0.1 * (self.epoch % 3))
            self.seen[key] = img
        return self.seen[key]
# %%
ds = Faces(100)
dl = DataLoader(ds, batch_size=25, shuffle=True)
mean = torch.zeros(3)
for epoch in range(5):
    ds.epoch = epoch
    for x in dl:
        mean = 0.9 * mean + 0.1 * x.mean((0, 2, 3))
mean
