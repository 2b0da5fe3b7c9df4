# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch issue of 2018: backward with create_graph leaves a cycle between a parameter and its gradient that only C++ sees"
# leaked = "2 * 4 * (1024 * (256 + 1 + 1) + 1 + 1024 * (512 + 1 + 1) + 1 + 1024 * (1024 + 1 + 1) + 1)"
# cause_cell = 2
# cause_line = "loss.backward(create_graph=True)"
# holder = ["create_graph", "grad", "reference cycle", "C++", "autograd graph"]
# repair = "import gc\nimport torch\nfor p in [o for o in gc.get_objects() if type(o) is torch.nn.Parameter]:\n    p.grad = None"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(1)
# %%
def grad_norm(d):
    net = nn.Sequential(nn.Linear(d, 1024), nn.Tanh(), nn.Linear(1024, 1))
    x = torch.randn(4, d)
    loss = net(x).pow(2).mean()
    loss.backward(create_graph=True)
    flat = torch.cat([p.grad.flatten() for p in net.parameters()])
    return flat.norm().item()


# %%
norms = {d: grad_norm(d) for d in (256, 512, 1024)}
print(norms)
