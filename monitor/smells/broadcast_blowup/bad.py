# %% all pairs, for one number
import torch

prices = torch.rand(500)
guesses = torch.rand(500)
error = (guesses[:, None] - prices[None, :]).pow(2).mean()  # lint: XL115

# %% by unsqueeze, in two statements of a function
def mismatch(pred, target):
    gap = pred.unsqueeze(1) - target.unsqueeze(0)  # lint: XL115
    return gap.abs().mean()

level = mismatch(prices, guesses)

# %% by NumPy, in a loop
import numpy as np

rows, columns = np.ones(300), np.ones(300)
for turn in range(3):
    total = np.sum(rows[np.newaxis, :] * columns[:, np.newaxis])  # lint: XL115

# %% a column against a vector: the model
from torch import nn
from torch.nn import functional as F

regressor = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
measure = nn.MSELoss()

# %% a column against a vector: the losses
output = regressor(torch.rand(500, 4))
loss = measure(output, prices)  # lint: XL115
again = F.l1_loss(regressor(torch.rand(500, 4)), guesses)  # lint: XL115
