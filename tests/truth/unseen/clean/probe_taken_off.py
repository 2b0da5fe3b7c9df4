# /// truth
# question = "asked"
# style = "short"
# needs = ["torch"]
# thread = "GitHub, pytorch, 2021: hooks hold what they captured until the handle is removed; here it is"
# ///
# %%
import torch
from torch import nn
net = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 4, 3, padding=1))

def watch(layer):
    maps = []
    return maps, layer.register_forward_hook(lambda m, i, o: maps.append(o.detach()))
# %%
maps, handle = watch(net[1])
with torch.no_grad(): net(torch.rand(8, 1, 160, 160))
alive = [(m > 0).float().mean((0, 2, 3)) for m in maps]
# %%
handle.remove()
del maps, handle
with torch.no_grad(): print(alive[0], net(torch.rand(1, 1, 160, 160)).shape)
