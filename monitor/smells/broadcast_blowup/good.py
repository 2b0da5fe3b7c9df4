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

# %% a square of two sets of points, used as one
first, second = torch.rand(600, 1), torch.rand(600)
every = first - second
nearest = every.abs().argmin(1)

# %% all pairs, by an axis that was made by hand
column = second.unsqueeze(1)
pairs = column - torch.rand(600)
level = pairs.abs().mean()

# %% of one shape
one, other = torch.rand(600, 1), torch.rand(600, 1)
gap = one - other
level = gap.pow(2).mean()

# %% one bias for each row
table, bias = torch.rand(600, 600), torch.rand(600, 1)
moved = table - bias
level = moved.mean()

# %% reduced along one axis
spread = first * second
means = spread.mean(1)
