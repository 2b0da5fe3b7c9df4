# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "GitHub, pytorch, 2021: loader and dataset deleted, the iterator that was asked for one sample still has them"
# leaked = "4 * 5000 * 1 * 40 * 40"
# cause_cell = 1
# cause_line = "self.imgs = torch.rand("
# holder = ["batches", "_SingleProcessDataLoaderIter", "batches._dataset"]
# repair = "del batches"
# ///
# %%
import gc, torch
from torch.utils.data import DataLoader, Dataset

class Slides(Dataset):
    def __init__(self, n): self.imgs = torch.rand(n, 1, 40, 40)
    def __len__(self): return len(self.imgs)
    def __getitem__(self, i): return self.imgs[i] * 2 - 1

ds = Slides(5000)
loader = DataLoader(ds, batch_size=32)
# %%
batches = iter(loader)
sample = next(batches)
print(sample.shape, sample.min())
# %%
del loader, ds
gc.collect()
