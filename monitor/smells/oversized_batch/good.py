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
