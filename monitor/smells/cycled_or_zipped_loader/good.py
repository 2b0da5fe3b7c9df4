# %% a generator
import itertools

import torch
from torch.utils.data import DataLoader, TensorDataset

unlabelled = DataLoader(TensorDataset(torch.rand(20, 3)), batch_size=4)

def forever(loader):
    while True:
        yield from loader

stream = forever(unlabelled)
for step in range(10):
    batch = next(stream)

# %% a short list
colours = itertools.cycle(["red", "green", "blue"])
names = [next(colours) for line in range(10)]

# %% batches and their numbers
for number, batch in zip(range(100), unlabelled):
    pass

# %% a cycle of one's own
def cycle(iterable):
    while True:
        for element in iterable:
            yield element

loader_stream = cycle(unlabelled)
batch = next(loader_stream)

# %% names of loaders
loaders = {"train": unlabelled, "valid": unlabelled}
keys = list(loaders)
pairs = list(zip(loaders, colours))

# %% a generator over large batches
face_loader = DataLoader(TensorDataset(torch.rand(64, 10_000)), batch_size=16)
face_stream = forever(face_loader)
for step in range(6):
    (face,) = next(face_stream)

# %% fixed batches that have names of their own
examples = [torch.rand(16, 10_000) for number in range(3)]
shown = itertools.cycle(examples)
for step in range(7):
    picture = next(shown)

# %% a first batch alone, and nothing that repeats
(face,) = next(iter(face_loader))

# %% a few batches to look at again and again
preview = itertools.cycle([torch.rand(16, 10_000), torch.rand(16, 10_000)])
for step in range(5):
    picture = next(preview)
