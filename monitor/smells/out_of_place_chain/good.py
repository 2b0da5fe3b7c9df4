# %% in place
import torch

with torch.no_grad():
    volume = torch.rand(20, 20, 20)
    volume.sub_(volume.mean()).div_(volume.std()).clamp_(-3, 3)

# %% with a graph
weights = torch.rand(20, requires_grad=True)
scaled = weights * 2
scaled = scaled - scaled.mean()
scaled = scaled / scaled.std()
scaled = scaled.clamp(-3, 3)
scaled.sum().backward()

# %% the caller still owns it
@torch.no_grad()
def normed(images):
    images = images - images.mean()
    images = images / images.std()
    images = images.clamp(-3, 3)
    return images

# %% another name has it
with torch.no_grad():
    raw = torch.rand(20, 20)
    cooked = raw
    cooked = cooked - 1
    cooked = cooked * 2
    cooked = cooked.abs()

# %% two statements
with torch.no_grad():
    mask = torch.rand(20, 20)
    mask = mask - 0.5
    mask = mask.abs()

# %% a large volume, in place
scan = torch.rand(17, 1024, 1024)
scan.sub_(0.5).div_(2).clamp_(-3, 3);

# %% another name has it
kept = scan
scan = scan - 0.5
scan = scan * 2
scan = scan.abs()
del kept

# %% two statements
film = torch.rand(17, 1024, 1024)
film = film - 0.5
film = film * 2
