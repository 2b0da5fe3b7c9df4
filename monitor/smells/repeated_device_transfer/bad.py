# needs: gpu
# %% large things on the host
import time

import numpy as np
import torch
from torch import nn

device = torch.device("cuda")
table = torch.rand(64, 1 << 20)
clip = torch.rand(64, 1 << 18, device=device)

# %% a table that does not change  # expect: XL605
start = time.monotonic()
while time.monotonic() - start < 2:
    level = table.to(device).mean().item()  # lint: XL605

# %% over the host and back  # expect: XL605
for turn in range(100):
    host = np.flip(clip.cpu().numpy(), 1).copy()
    back = torch.from_numpy(host).to(device)  # lint: XL605

# %% in a method
class Judge:
    def __init__(self):
        self.weights = torch.rand(64, 1 << 20)

    def levels(self, turns):
        for turn in range(turns):
            yield (self.weights.cuda() * 2).sum()  # lint: XL605

# %% that another cell calls  # expect: XL605
levels = [level.item() for level in Judge().levels(100)]
