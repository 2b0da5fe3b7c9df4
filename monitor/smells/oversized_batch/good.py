# needs: gpu
# %% a network of one layer
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
table = TensorDataset(torch.rand(64, 4), torch.rand(64, 1))
net = nn.Linear(4, 1)
for rows, values in DataLoader(table, batch_size=4096):
    (net(rows) - values).square().mean().backward()

# %% gathered over several batches
for number, (rows, values) in enumerate(DataLoader(table, batch_size=16)):
    ((net(rows) - values).square().mean() / 4).backward()

# %% a size from elsewhere
size = 32
loader = DataLoader(table, batch_size=size)

# %% a few pictures
pictures = torch.zeros(2, 3, 64, 64)

# %% small batches on the device, where there is one
device = "cuda" if torch.cuda.is_available() else "cpu"
deep = nn.Sequential(nn.Linear(4, 4), *[nn.Sigmoid() for layer in range(8)]).to(device)
for part in torch.rand(64, 4).split(16):
    deep(part.to(device)).mean().backward()

# %% data that fill it, and a small step beside them
data = torch.zeros(1 << 20, device=device)
deep(data[:16].view(4, 4)).mean().backward()
