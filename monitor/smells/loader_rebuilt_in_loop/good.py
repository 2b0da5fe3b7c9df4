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

# %% persistent ones of each split and fold
splits = {name: Subset(tiles, range(4 * n, 4 * n + 4)) for n, name in enumerate("abc")}
lasting = {
    name: DataLoader(split, 2, num_workers=1, persistent_workers=True)
    for name, split in splits.items()
}
counts = [len(batch[0]) for it in lasting.values() for batch in it]

# %% of one data set, by samplers of their own
from torch.utils.data import SubsetRandomSampler

folds = [
    DataLoader(
        tiles, 2, num_workers=1, persistent_workers=True, sampler=SubsetRandomSampler(range(n, 16, 3))
    )
    for n in range(3)
]
counts = [len(batch[0]) for it in folds for batch in it]

# %% of several batch sizes
sizes = [DataLoader(tiles, n, num_workers=1, persistent_workers=True) for n in (2, 4, 8)]
counts = [len(batch[0]) for it in sizes for batch in it]

# %% the end
del lasting, folds, sizes

# %% streams side by side
anchors = DataLoader(tiles, 4, shuffle=True, num_workers=1, persistent_workers=True)
nearer = DataLoader(tiles, 4, shuffle=True, num_workers=1, persistent_workers=True)
farther = DataLoader(tiles, 4, shuffle=True, num_workers=1, persistent_workers=True)
counts = [len(one) for one, two, three in zip(anchors, nearer, farther)]
