# %% a transposed cube, summed in each iteration
import time

import torch

cube = torch.rand(256, 256, 64)
planes = cube.permute(2, 0, 1)  # lint: XL116

# %% for most of a cell  # expect: XL116
curves, start = [], time.monotonic()
while time.monotonic() - start < 1.5:
    curves.append(planes.sum(-1).mul_(0.5).amax(1))

# %% by a function of another cell
table = torch.rand(1500, 1500)
columns = table.T  # lint: XL116


def spread(seconds):
    found, start = [], time.monotonic()
    while time.monotonic() - start < seconds:
        found.append(columns.cumsum(0).max().item())
    return found


# %% which takes most of this one's time  # expect: XL116
found = spread(1.5)

# %% over several lines, with a name for the module  # expect: XL116
import torch as th

images = th.rand(32, 64, 64, 16)
first = images.movedim(3, 1)  # lint: XL116
start = time.monotonic()
while time.monotonic() - start < 1.5:
    level = (
        first
        .softmax(-1)
        .amax()
        .item()
    )
