# %% a peek without workers
import torch
from torch.utils.data import DataLoader, TensorDataset

spectra = TensorDataset(torch.zeros(64, 10))
first = next(iter(DataLoader(spectra, num_workers=0, batch_size=4)))

# %% a whole epoch
loader = DataLoader(spectra, num_workers=1, batch_size=16)
total = sum(batch[0].sum() for batch in loader)

# %% broken off, and the iterator has no name
for batch in loader:
    break

# %% a training loader in use
persistent = DataLoader(spectra, num_workers=1, batch_size=16, persistent_workers=True)
for batch in persistent:
    pass

# %% looked at between two epochs
print(total)

# %% looked at between two epochs
print(batch[0].shape)

# %% the next epoch
for batch in persistent:
    pass

# %% an endless iteration in use
stream = iter(DataLoader(spectra, num_workers=1, batch_size=4))
batch = next(stream)

# %% an endless iteration in use: shown
print(batch[0].shape)

# %% an endless iteration in use: goes on
batch = next(stream)

# %% an endless iteration in use: shown
print(batch[0].shape)

# %% an endless iteration in use: ended
del stream

# %% the end
del persistent
print(total)

# %% after the end
print(total)
