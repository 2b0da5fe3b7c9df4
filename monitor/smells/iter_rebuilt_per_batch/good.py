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

# %% another loader in each iteration
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

# %% with workers, each iterator dropped
workers = DataLoader(TensorDataset(torch.rand(12, 3)), batch_size=4, num_workers=1)
(anchor,) = next(iter(workers))
(anchor,) = next(iter(workers))
(anchor,) = next(iter(workers))

# %% streams of one loader, side by side
streams = [iter(workers) for part in range(3)]
triple = [next(stream) for stream in streams]
triple = [next(stream) for stream in streams]

# %% streams of one loader: looked at
print(anchor.shape)

# %% streams of one loader: looked at
print(anchor.shape)

# %% streams of one loader: to the end
rest = [len(list(stream)) for stream in streams]

# %% one of each loader
loaders = [DataLoader(TensorDataset(torch.rand(12, 3)), 4, num_workers=1) for part in range(3)]
firsts = [iter(loader) for loader in loaders]
triple = [next(first) for first in firsts]

# %% one of each loader: looked at
print(anchor.shape)

# %% one of each loader: looked at
print(anchor.shape)

# %% one of each loader: the end
del firsts, loaders, streams
