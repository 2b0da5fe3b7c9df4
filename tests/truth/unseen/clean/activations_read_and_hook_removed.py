# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "Look-alike of the reports on forward hooks: the handle is stored and removed when the features are read"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(128, 1500), nn.ReLU(), nn.Linear(1500, 4)).eval()
# %%
def hidden_stats(net, x):
    acts = []
    handle = net[1].register_forward_hook(lambda mod, args, out: acts.append(out))
    try:
        with torch.no_grad():
            net(x)
    finally:
        handle.remove()
    return acts[0].mean(0), (acts[0] > 0).float().mean().item()


# %%
mu, active = hidden_stats(net, torch.randn(3000, 128))
print(mu.shape, round(active, 3))
