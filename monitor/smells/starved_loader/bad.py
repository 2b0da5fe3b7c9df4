# needs: gpu
# %% songs that take time to read
import torch
import torch.utils.data as data
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda")
net = nn.Linear(4096, 16).to(device)

class Songs(Dataset):
    def __len__(self):
        return 600

    def __getitem__(self, number):
        return torch.rand(200, 4096).sort(0).values[0]

# %% neither workers nor pinned memory  # expect: XL610
loader = DataLoader(Songs(), batch_size=8, shuffle=True)  # lint: XL610
for song in loader:
    level = net(song.to(device)).mean().item()

# %% through enumerate, by another name  # expect: XL610
for number, song in enumerate(data.DataLoader(Songs(), batch_size=4)):
    level = net(song.to(device)).mean().item()

# %% in a function
def levels(batches):
    found = []
    for song in batches:
        found.append(net(song.cuda()).mean().item())
    return found

# %% that another cell calls  # expect: XL610
found = levels(DataLoader(Songs(), 8))
