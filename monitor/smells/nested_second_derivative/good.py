# %% no graph for the last one
import torch
from torch.autograd import grad

field = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
bends = []
for point in torch.rand(5, 3, 2):
    point.requires_grad_()
    slope = grad(field(point).sum(), point, create_graph=True)[0]
    bend = sum(grad(slope[:, k].sum(), point, retain_graph=True)[0][:, k] for k in range(2))
    bends.append(bend.mean().item())

# %% what a caller may differentiate again
def laplacian(x):
    slope = grad(field(x).sum(), x, create_graph=True)[0]
    return grad(slope.sum(), x, create_graph=True)[0]

# %% torch.func
hessian = torch.func.hessian(lambda x: field(x).sum())(torch.rand(2))

# %% one derivative
x = torch.rand(3, 2, requires_grad=True)
slope = grad(field(x).sum(), x, create_graph=True)[0]

# %% many points, no graph for the last one
wide = torch.nn.Sequential(torch.nn.Linear(2, 512), torch.nn.Tanh(), torch.nn.Linear(512, 1))
points = torch.rand(512, 2, requires_grad=True)
slope = grad(wide(points).sum(), points, create_graph=True)[0]
bend = grad(slope.sum(), points, retain_graph=True)[0]

# %% the first keeps its own
print(slope.shape, bend.shape)

# %% a third derivative is on its way
second = grad(slope.pow(2).sum(), points, create_graph=True)[0]

# %% and taken
third = grad(second.sum(), points)[0]
del second
