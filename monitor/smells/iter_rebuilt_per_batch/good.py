# %% one look at a batch
import torch
from torch.utils.data import DataLoader, TensorDataset

triplets = DataLoader(TensorDataset(torch.rand(12, 3)), batch_size=4)
(first,) = next(iter(triplets))

# %% the iterator is kept, and made again at its end
batches = iter(triplets)
for step in range(5):
    try:
        (anchor,) = next(batches)
    except StopIteration:
        batches = iter(triplets)
        (anchor,) = next(batches)

# %% another loader in each turn
for loader in [triplets, triplets]:
    sample = next(iter(loader))

# %% the first key of a dictionary
table = {"a": 1, "b": 2}
for turn in range(5):
    key = next(iter(table))

# %% shown once in a while
for epoch in range(5):
    for batch in triplets:
        pass
    if epoch % 2 == 0:
        print(next(iter(triplets))[0].shape)
