# %% a network for pictures
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
unet = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2 * 36, 2))
tiles = TensorDataset(torch.rand(8, 1, 8, 8), torch.randint(2, (8,)))

loader = DataLoader(tiles, batch_size=2048)  # lint: XL603
for tile, kind in loader:
    nn.functional.cross_entropy(unet(tile), kind).backward()

# %% by position, in a function
import torch.utils.data as data

def loaders(part):
    return data.DataLoader(part, 1024, drop_last=False)  # lint: XL603

count = len(loaders(tiles))

# %% one tensor of pictures
def pictures():
    return torch.zeros(512, 3, 512, 512)  # lint: XL603
