# %% an axis that is taken away again
import torch

scores = torch.rand(64, 10)
best = scores.max(dim=1, keepdim=True).values
level = scores.mean(dim=1, keepdim=True).squeeze(1)  # lint: XL111

# %% by the function of the module, and an index
from torch import amax

class Head(torch.nn.Module):
    def forward(self, x):
        return amax(x, dim=-1, keepdim=True)[..., 0]  # lint: XL111

peaks = Head()(scores)

# %% next to labels: a square
targets = torch.rand(64)
average = scores.mean(1, keepdim=True)  # lint: XL111

# %% in another cell
gap = targets - average
error = gap.square().mean()

# %% by NumPy, in a loop
import numpy as np

for turn in range(3):
    row = np.ones((8, 4)).sum(axis=1, keepdims=True).ravel()  # lint: XL111

# %% many rows
table = torch.rand(900, 8)
wanted = torch.rand(900)

# %% a column next to a vector  # expect: XL111
middle = table.mean(dim=1, keepdim=True)
off = wanted - middle
error = (off ** 2).mean()

# %% the values of a maximum, in one cell
most = table.max(dim=1, keepdim=True).values

# %% and the difference in another  # expect: XL111
above = most - wanted
height = above.abs().sum()

# %% by NumPy  # expect: XL111
rows = np.random.rand(600, 4)
sums, goals = rows.sum(axis=1, keepdims=True), np.random.rand(600)
far = sums - goals
error = np.mean(far)
