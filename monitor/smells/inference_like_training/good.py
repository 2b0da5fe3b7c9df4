# %% under inference_mode
import os
import tempfile

import torch
import torch.nn as nn

path = os.path.join(tempfile.mkdtemp(), "weights.pt")
torch.save(nn.Linear(6, 3).state_dict(), path)
net = nn.Linear(6, 3)
net.load_state_dict(torch.load(path))
with torch.inference_mode():
    names = [net(tile).argmax().item() for tile in torch.rand(5, 6)]

# %% a decorator
@torch.no_grad()
def answer(tile):
    return net(tile).argmax().item()

names = [answer(tile) for tile in torch.rand(5, 6)]

# %% frozen weights
trunk = nn.Linear(6, 3)
trunk.load_state_dict(torch.load(path))
trunk.requires_grad_(False)
features = [trunk(tile) for tile in torch.rand(5, 6)]

# %% a model without weights of its own
plain = nn.Linear(6, 3)
shapes = [plain(tile).shape for tile in torch.rand(5, 6)]

# %% wide, under inference_mode
wide = nn.Sequential(nn.Linear(6, 2048), nn.Sigmoid(), nn.Linear(2048, 3))
wide.load_state_dict(wide.state_dict())
with torch.inference_mode():
    for tiles in torch.rand(3, 256, 6):
        answer = wide(tiles)

# %% nothing but the answer is kept
print(answer.shape)
