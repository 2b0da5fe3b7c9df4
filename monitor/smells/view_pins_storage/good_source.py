# %% copies
import torch

corners = []
for scene in scans:
    corners.append(scene[:2, :2].detach().clone())

# %% to the host, from a device
moved = []
for scene in scans:
    moved.append(scene[:2].detach().cpu())

# %% masks copy, and numbers are no views
chosen, levels = [], []
for scene in scans:
    scene = torch.as_tensor(scene)
    chosen.append(scene[scene > 0.5])
    levels.append(scene[0].item())

# %% nearly all of it
bodies = []
for scene in scans:
    bodies.append(scene[1:].detach())

# %% three of four channels
pictures = []
for scene in scans:
    pictures.append(scene[:, :, :3].detach())

# %% parts of one block that is there anyway
block = torch.rand(1_000, 20)
parts = []
for start in range(100):
    parts.append(block[:5].detach())

# %% a local list
def heads(scans):
    found = []
    for scene in scans:
        found.append(scene[:2].detach())
    return torch.stack(found)

# %% slices of a list
words = []
for line in lines:
    words.append(line[:3])
