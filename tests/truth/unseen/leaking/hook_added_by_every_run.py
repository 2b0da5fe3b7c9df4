# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum thread of about 2019: forward hooks for features, the cell was run several times and the memory rises, handle.remove() is missing"
# order = [1, 2, 2, 2, 2, 3]
# leaked = "3 * 400 * 8 * 28 * 28 * 4"
# cause_cell = 2
# cause_line = "out = net(x)"
# holder = ["net", "net[0]", "_forward_hooks", "register_forward_hook", "hook"]
# repair = "net[0]._forward_hooks.clear()"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.Flatten(), nn.Linear(8 * 28 * 28, 10))
x = torch.randn(400, 1, 28, 28)
# %%
def save_into(store):
    return lambda m, i, o: store.append(o.detach())

maps = []
net[0].register_forward_hook(save_into(maps))
with torch.no_grad():
    out = net(x)
# %%
print(maps[0].shape, out.argmax(1).bincount())
