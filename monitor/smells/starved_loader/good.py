# needs: gpu
# %% tensors in memory
import time

import torch
from torch import nn

device = torch.device("cuda")
from torch.utils.data import DataLoader, Dataset, TensorDataset

net = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 16)).to(device)
rows = torch.rand(20_000, 4096)
for (row,) in DataLoader(TensorDataset(rows), batch_size=64):
    level = net(row.to(device)).mean().item()

# %% a device that has more to do than the loader
class Rows(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, number):
        return rows[number]

for row in DataLoader(Rows(), batch_size=1):  # lint: XL610
    row = row.to(device)
    for turn in range(100):
        level = net(row.expand(8192, 4096)).mean().item()

# %% nothing moves
for row in DataLoader(Rows(), batch_size=4):
    level = row.sum().item()
    time.sleep(0.05)
