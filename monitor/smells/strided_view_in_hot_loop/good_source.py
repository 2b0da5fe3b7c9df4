# %% copied once
import torch

cube = torch.rand(40, 40, 8)
gains = torch.rand(60)
planes = cube.permute(2, 0, 1).contiguous()
curves = [planes.sum(-1).mul(gain).amax(1) for gain in gains]

# %% a product of matrices takes it as it is
weights = torch.rand(50, 50)
turned = weights.t()
rows = torch.rand(10, 50)
for gain in gains:
    rows = (rows @ turned).softmax(-1)

# %% read once
image = torch.rand(3, 8, 8)
shown = image.permute(1, 2, 0)
level = shown.mean()

# %% a few iterations
for turn in range(3):
    level = shown.amax()

# %% new in each iteration
for gain in gains:
    turned = (image * gain).permute(1, 2, 0)
    level = turned.sum()

# %% another format of memory
images = torch.rand(2, 3, 8, 8).to(memory_format=torch.channels_last)
for gain in gains:
    level = (images * gain).mean()
