# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "Stack Overflow, about 2019: functools.partial keeps its arguments, memory of the arrays bound in it stays as long as the partial"
# leaked = "8 * 32 * 3 * 96 * 96 * 4"
# cause_cell = 1
# cause_line = "batch=torch.randn(32, 3, 96, 96)"
# holder = ["probes"]
# repair = "probes.clear()"
# ///
# %%
from functools import partial
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 4, 5, stride=4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1))

@torch.no_grad()
def response(batch, sigma):
    return (net(batch + sigma) - net(batch)).abs().mean().item()

probes = {k: partial(response, batch=torch.randn(32, 3, 96, 96)) for k in range(8)}
shift = {k: probe(sigma=0.1) for k, probe in probes.items()}
# %%
max(shift.values())
