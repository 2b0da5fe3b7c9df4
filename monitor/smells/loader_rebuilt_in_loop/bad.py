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
