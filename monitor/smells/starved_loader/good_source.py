# %% workers and pinned memory
import torch
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
rows = torch.rand(8, 4)

loader = DataLoader(rows, batch_size=4, num_workers=0, pin_memory=torch.cuda.is_available())
for row in loader:
    row = row.to(device, non_blocking=True)

# %% tensors in memory
for (row,) in DataLoader(TensorDataset(rows), batch_size=4):
    row = row.to(device)

# %% nothing moves
for row in DataLoader(rows, batch_size=4):
    total = row.sum()

# %% options from elsewhere
options = {"num_workers": 0}
for row in DataLoader(rows, batch_size=4, **options):
    row = row.to(device)
