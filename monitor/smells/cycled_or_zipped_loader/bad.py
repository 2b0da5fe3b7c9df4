# %% a loader that never ends
import itertools
from itertools import cycle as forever

import torch
from torch.utils.data import DataLoader, TensorDataset

unlabelled = DataLoader(TensorDataset(torch.rand(20, 3)), batch_size=4)
labelled = DataLoader(TensorDataset(torch.rand(12, 3)), batch_size=4)
stream = itertools.cycle(unlabelled)  # lint: XL304
for step in range(10):
    batch = next(stream)

# %% the shorter of two
def semi_supervised(first_loader, second_loader):
    for (few,), (many,) in zip(forever(first_loader), second_loader):  # lint: XL304
        print(few.shape, many.shape)

semi_supervised(labelled, unlabelled)

# %% an iterator, twice
class Feed:
    def __init__(self, loader):
        self.now, self.later = itertools.tee(iter(loader))  # lint: XL304

feed = Feed(unlabelled)

# %% all batches at once
batches = list(unlabelled)  # lint: XL304

# %% two loaders side by side
for first, second in zip(labelled, unlabelled):  # lint: XL304
    pass

# %% sets of large samples
from torch.utils.data import DataLoader

faces = TensorDataset(torch.rand(64, 10_000))
face_loader = DataLoader(faces, batch_size=16)

# %% a second pass over them  # expect: XL304
face_stream = itertools.cycle(face_loader)  # lint: XL304
for step in range(6):
    (face,) = next(face_stream)

# %% the first pass is not over, by another name of cycle  # expect: XL304
endless = forever(face_loader)  # lint: XL304
(face,) = next(endless)
(face,) = next(endless)
(face,) = next(endless)
(face,) = next(endless)

# %% an attribute of an object
class Trainer:
    def __init__(self, loader):
        self.batches = itertools.cycle(loader)  # lint: XL304

    def step(self):
        return next(self.batches)[0].mean()

# %% of which each step takes a batch  # expect: XL304
trainer = Trainer(face_loader)
means = [float(trainer.step()) for step in range(5)]
