# /// truth
# question = "reach"
# style = "short"
# needs = ["torch"]
# thread = "Answer to the PyTorch issue of 2018 on create_graph: use autograd.grad, nothing is stored in .grad and no cycle remains"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(1)
# %%
def penalty(d):
    net = nn.Sequential(nn.Linear(d, 1024), nn.Tanh(), nn.Linear(1024, 1))
    x = torch.randn(4, d)
    grads = torch.autograd.grad(net(x).pow(2).mean(), list(net.parameters()), create_graph=True)
    pen = sum(g.pow(2).sum() for g in grads)
    pen.backward()
    return pen.item(), net[0].weight.grad.norm().item()


# %%
pens = {d: penalty(d) for d in (256, 512, 1024)}
print(pens)
