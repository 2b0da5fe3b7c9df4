# %% sums over a permuted cube
import torch

cube = torch.rand(40, 40, 8)
gains = torch.rand(60)
planes = cube.permute(2, 0, 1)  # lint: XL116
curves = []
for gain in gains:
    curves.append(planes.sum(-1).mul_(gain).amax(1))

# %% a transposed table, viewed in one cell
table = torch.rand(300, 50)
columns = table.T  # lint: XL116

# %% and read by an inner loop in another
total = 0.0
for epoch in range(2):
    for turn in range(100):
        total += (columns * turn).mean().item()

# %% in a function, by movedim
from torch import Tensor

def levels(images: Tensor, count: int):
    last = images.movedim(1, -1)  # lint: XL116
    found, turn = [], 0
    while turn < count:
        found.append(last.softmax(-1).amax().item())
        turn += 1
    return found

level = levels(torch.rand(2, 3, 8, 8), 5)
