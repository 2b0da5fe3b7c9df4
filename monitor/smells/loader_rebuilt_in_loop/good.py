# %% one for all epochs
import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

tiles = TensorDataset(torch.rand(16, 3))
loader = DataLoader(tiles, 8, shuffle=True, num_workers=1, persistent_workers=True)
for epoch in range(2):
    for batch in loader:
        pass

# %% one for each fold
for fold in range(2):
    part = Subset(tiles, range(8 * fold, 8 * fold + 8))
    for batch in DataLoader(part, 4, num_workers=1):
        pass

# %% one for each split
loaders = {name: DataLoader(tiles, 4, num_workers=1) for name in ("train", "valid", "test")}

# %% without workers
for epoch in range(2):
    for batch in DataLoader(tiles, 8, num_workers=0):
        pass

# %% of what the caller hands over
def count(dataset, workers):
    return sum(len(batch) for batch in DataLoader(dataset, 4, num_workers=workers))

for dataset in (tiles, part):
    count(dataset, 1)
