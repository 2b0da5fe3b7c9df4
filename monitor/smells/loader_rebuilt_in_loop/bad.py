# %% in each epoch
import torch
import torch.utils.data as data
from torch.utils.data import DataLoader, TensorDataset

tiles = TensorDataset(torch.rand(16, 3))
for epoch in range(2):
    loader = DataLoader(tiles, 8, shuffle=True, num_workers=1)  # lint: XL305
    for batch in loader:
        pass

# %% within the call of the loop over batches
for epoch in range(2):
    for (tile,) in data.DataLoader(tiles, batch_size=4, num_workers=1):  # lint: XL305
        tile.sum()

# %% a function
def run_epoch():
    batches = torch.utils.data.DataLoader(  # lint: XL305
        tiles, batch_size=8, num_workers=1, persistent_workers=True
    )
    return sum(len(batch) for batch in batches)

# %% that a loop calls
epoch = 0
while epoch < 2:
    run_epoch()
    epoch += 1

# %% all of them are kept  # expect: XL305
history = []
for epoch in range(3):
    loader = DataLoader(  # lint: XL305
        tiles, 8, shuffle=True, num_workers=1, persistent_workers=True
    )
    for batch in loader:
        pass
    history.append(loader)

# %% a trainer for each run
class Trainer:
    def __init__(self, dataset):
        self.loader = DataLoader(dataset, 4, num_workers=2, persistent_workers=True)

    def fit(self):
        return sum(len(batch) for batch in self.loader)

trainers = {}

# %% in a dictionary  # expect: XL305
for seed in range(3):
    trainers[seed] = Trainer(tiles)
    trainers[seed].fit()

# %% a list that runs fill
attempts = []

# %% run
attempts.append(DataLoader(tiles, 2, num_workers=1, persistent_workers=True))
first = next(iter(attempts[-1]))

# %% run again
attempts.append(DataLoader(tiles, 2, num_workers=1, persistent_workers=True))
first = next(iter(attempts[-1]))

# %% and again  # expect: XL305
attempts.append(DataLoader(tiles, 2, num_workers=1, persistent_workers=True))
first = next(iter(attempts[-1]))
