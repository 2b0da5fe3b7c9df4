# %% made once
import torch

device = torch.device("cpu")
waves = [torch.rand(1, 900 + number) for number in range(3)]
pad = torch.zeros(8, 1, 16_000, device=device)
for wave in waves:
    pad.zero_()
    pad[..., : wave.shape[-1]] = wave
    level = pad.mean().item()

# %% noise, fresh in each iteration
for wave in waves:
    noise = torch.randn(400, 400, device=device)
    level = noise.std().item()

# %% a shape of its own in each iteration
for wave in waves:
    mask = torch.ones(900, wave.shape[-1])
    level = mask.sum().item()

# %% results that are kept
pages = []
for number in range(12):
    page = torch.zeros(300, 300)
    page[number] = 1
    pages.append(page)

# %% a sum that starts again in each epoch
for epoch in range(10):
    total = torch.zeros(300, 300)
    for wave in waves:
        total += wave.mean()

# %% a small one
for wave in waves:
    start = torch.zeros(1, 8).to(device)
    level = (wave.mean() + start).sum().item()

# %% another type, not another place
for wave in waves:
    row = torch.zeros(len(wave), 70_000).to(torch.float64)
    level = row.sum().item()

# %% large ones that are the results of operations
wide = torch.rand(600, 600)
for turn in range(120):
    level = (wide * turn).amax().item()

# %% a large one, a few times
for turn in range(20):
    pad = torch.rand(600, 700)
    level = pad.amax().item()

# %% made once, reset many times
pad = torch.zeros(600, 800)
for turn in range(120):
    pad.zero_()
    level = pad.add_(turn).amax().item()
