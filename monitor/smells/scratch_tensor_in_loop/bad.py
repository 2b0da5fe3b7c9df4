# %% made on the host, then moved
import torch

device = torch.device("cpu")
waves = [torch.rand(1, 900) for number in range(3)]
for wave in waves:
    pad = torch.zeros(8, 1, 16_000).to(device)  # lint: XL114
    pad[..., : wave.shape[-1]] = wave
    level = pad.mean().item()

# %% by another name, in a function
from torch import ones as filled

def levels(batches, device):
    for batch in batches:
        mask = filled(300, 300).to(device)  # lint: XL114
        yield (batch.sum() * mask.sum()).item()

found = list(levels(waves, device))

# %% noise, fresh in each iteration, but drawn on the host
while len(found) < 5:
    noise = torch.randn(400, 400).to(device)  # lint: XL114
    found.append(noise.std().item())

# %% the same table in each iteration of an inner loop
import numpy as np

size = 400
for epoch in range(10):
    for wave in waves:
        grid = np.zeros((size, size))  # lint: XL114
        grid[0, :900] = wave[0, :400].numpy()
        level = grid.sum()

# %% a large one, many times  # expect: XL114
wide = torch.rand(1, 900)
for turn in range(120):
    pad = torch.zeros(8, 4, 16_000)  # lint: XL114
    pad[..., :900] = wide
    level = pad.amax().item()

# %% by other names, its size from a name  # expect: XL114
height = 600
count = 0
while count < 110:
    mask = filled((height, height), dtype=torch.float32)  # lint: XL114
    mask[0] = 0
    count += int(mask.amax().item())

# %% in a function
def padded(wave):
    room = torch.full((8, 4, 16_000), 0.5, dtype=torch.float32)
    room[..., :900] = wave
    return room.amax().item()

# %% that a loop calls  # expect: XL114
found = [padded(wide) for turn in range(3)]
for turn in range(150):
    found.append(padded(wide))
