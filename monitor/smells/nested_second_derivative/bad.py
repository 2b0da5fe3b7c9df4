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

# %% many points at once, by the second derivative of a wide network
wide = torch.nn.Sequential(torch.nn.Linear(2, 512), torch.nn.Tanh(), torch.nn.Linear(512, 1))
points = torch.rand(512, 2, requires_grad=True)
slope = grad(wide(points).sum(), points, create_graph=True)[0]
bend = sum(
    grad(slope[:, k].sum(), points, create_graph=True)[0][:, k]  # lint: XL209
    for k in range(2)
)

# %% only plotted  # expect: XL209
curve = bend.tolist()

# %% the derivative in one cell
(incline,) = ag.grad(wide(points).square().sum(), points, create_graph=True)

# %% its derivative in another, as one of two names
steepness = incline.square().sum()
curvature, *others = ag.grad(steepness, points, create_graph=True)  # lint: XL209

# %% of which a number is read  # expect: XL209
print(curvature.abs().max().item())

# %% a function of a helper
def bending(model, x):
    (first,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x, create_graph=True)[0]

# %% its value is kept
field_bend = bending(wide, points)

# %% and nothing goes back through it  # expect: XL209
print(field_bend.mean().item())
