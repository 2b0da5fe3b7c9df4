# %% a peek at the first batch
import torch
from torch.utils.data import DataLoader, TensorDataset

spectra = TensorDataset(torch.zeros(64, 10))
batches = iter(DataLoader(spectra, num_workers=1, batch_size=4))  # lint: XL321
first = next(batches)

# %% a peek at the first batch: later
print(first[0].shape)

# %% a peek at the first batch: later still  # expect: XL321
print(len(spectra))

# %% persistent workers of a loader that is gone
loaders = {}
loaders["valid"] = iter(
    DataLoader(spectra, num_workers=2, batch_size=4, persistent_workers=True)
)
for number in range(3):
    batch = next(loaders["valid"])

# %% persistent workers: later
print(batch[0].shape)

# %% persistent workers: later still  # expect: XL321
print(number)

# %% broken off within an object
class Trainer:
    def __init__(self):
        self.batches = iter(DataLoader(spectra, num_workers=1, batch_size=4))  # lint: XL321

    def peek(self):
        return next(self.batches)

trainer = Trainer()
shape = trainer.peek()[0].shape

# %% broken off: another batch
shape = trainer.peek()[0].shape

# %% broken off: later
print(shape)

# %% broken off: later still  # expect: XL321
print(shape)
