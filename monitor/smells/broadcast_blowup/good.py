# %% a matrix of distances, used as one
import torch

points = torch.rand(200)
apart = (points[:, None] - points[None, :]).abs()
nearest = apart.topk(3, largest=False).indices

# %% reduced along one axis alone
spread = (points[:, None] - points[None, :]).square().mean(1)

# %% the mean distance within one set, which needs all pairs
level = (points[:, None] - points[None, :]).square().mean()

# %% a mask of attention
steps = torch.arange(20)
mask = steps[:, None] >= steps[None, :]
visible = mask.sum()

# %% one scale for each channel
images = torch.rand(2, 3, 8, 8)
scale = torch.rand(3)
level = (images * scale[None, :, None, None]).mean()

# %% shapes that fit
from torch import nn

regressor = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
prices = torch.rand(200)
measure = nn.MSELoss()
rows = torch.rand(200, 4)
loss = measure(regressor(rows).squeeze(1), prices)
same = measure(regressor(rows), prices[:, None])
outputs = regressor(rows).view(-1)
third = measure(outputs, prices)
