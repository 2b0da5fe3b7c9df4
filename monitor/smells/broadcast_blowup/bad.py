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

# %% a column of predictions and a vector of prices  # expect: XL115
with torch.no_grad():
    column = regressor(torch.rand(1000, 4))
costs = torch.rand(1000)
gap = column - costs
fault = gap.pow(2).mean()

# %% what two objects have
class Batch:
    pass

batch = Batch()
batch.label = torch.rand(800)
batch.score = torch.rand(800, 1)

# %% scaled, and squared later  # expect: XL115
off = 2 * (batch.score - batch.label)
squared = off ** 2
fault = torch.mean(squared)

# %% by NumPy, in a loop's last iteration  # expect: XL115
guessed, known = np.random.rand(700, 1), np.random.rand(700)
for turn in range(2):
    apart = guessed - known
    fault = np.abs(apart).mean() if turn < 0 else apart.mean()
