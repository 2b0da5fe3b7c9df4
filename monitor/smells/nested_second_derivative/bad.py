# %% a Laplacian, point by point
import torch
from torch.autograd import grad

field = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
bends = []
for point in torch.rand(5, 3, 2):
    point.requires_grad_()
    u = field(point)
    slope = grad(u.sum(), point, create_graph=True)[0]
    bend = sum(
        grad(slope[:, k].sum(), point, create_graph=True)[0][:, k]  # lint: XL209
        for k in range(2)
    )
    bends.append(bend.mean().item())

# %% in one expression, by the full name
x = torch.rand(3, 2, requires_grad=True)
(bend,) = torch.autograd.grad(  # lint: XL209
    torch.autograd.grad(field(x).sum(), x, create_graph=True)[0].sum(), x, create_graph=True
)

# %% in a function that returns a number
import torch.autograd as ag

def roughness(model, x):
    x = x.clone().requires_grad_()
    (slope,) = ag.grad(model(x).sum(), x, create_graph=True)
    total = slope.square().sum()
    (bend,) = ag.grad(total, x, create_graph=True)  # lint: XL209
    return bend.abs().max().item()

rough = roughness(field, x.detach())
