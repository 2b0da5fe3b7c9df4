# needs: gpu
# %% moved once
import time

import torch
from torch import nn

device = torch.device("cuda")
table = torch.rand(64, 1 << 20).to(device)
start = time.monotonic()
while time.monotonic() - start < 2:
    level = table.mean().item()

# %% each batch once
batches = [torch.rand(64, 1 << 18) for number in range(10)]
start = time.monotonic()
while time.monotonic() - start < 2:
    for batch in batches:
        level = batch.to(device).mean().item()

# %% what does not change, but is small beside the work
weights = torch.tensor([0.3, 0.7])
start = time.monotonic()
while time.monotonic() - start < 2:
    on_device = weights.to(device)  # lint: XL605
    torch.linalg.svd(torch.rand(400, 400))
