# %% contiguous
import time

import torch

cube = torch.rand(256, 256, 64)
planes = cube.permute(2, 0, 1).contiguous()
start = time.monotonic()
while time.monotonic() - start < 1.5:
    curve = planes.sum(-1).mul_(0.5).amax(1)

# %% a view that takes little of the time
small = torch.rand(30, 40).T  # lint: XL116
start = time.monotonic()
while time.monotonic() - start < 1.5:
    level = small.sum(-1).amax().item()
    time.sleep(0.02)

# %% said to be strided, but its axes have one element
row = torch.rand(1, 4_000_000).T  # lint: XL116
start = time.monotonic()
while time.monotonic() - start < 1.5:
    level = row.square().sum().item()

# %% products of matrices take it as it is
weight = torch.rand(600, 600).T
start = time.monotonic()
while time.monotonic() - start < 1.5:
    level = (torch.rand(600, 600) @ weight).amax().item()
