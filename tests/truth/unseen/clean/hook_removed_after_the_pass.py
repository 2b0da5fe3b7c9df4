# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum thread of about 2017: how to get the output of a layer, the handle is removed after the pass"
# order = [1, 2, 2, 2, 3]
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(300, 2000), nn.ReLU(), nn.Linear(2000, 5))
# %%
acts = []
handle = net[1].register_forward_hook(lambda m, i, o: acts.append(o.detach()))
with torch.no_grad():
    for _ in range(8):
        net(torch.randn(256, 300))
handle.remove()
# %%
alive = (torch.cat(acts) > 0).float().mean(0)
print(f"{int((alive == 0).sum())} dead units, {alive.mean():.2f} active")
