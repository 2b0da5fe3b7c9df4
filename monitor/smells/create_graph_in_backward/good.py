# %% autograd.grad
import torch

torch.set_num_threads(1)

def potential():
    return torch.nn.Sequential(
        torch.nn.Linear(400, 500), torch.nn.Tanh(), torch.nn.Linear(500, 300)
    )

net = potential()
x = torch.rand(600, 400)
slopes = torch.autograd.grad(net(x).square().mean(), list(net.parameters()), create_graph=True)
rough = sum(slope.square().sum() for slope in slopes)
rough.backward()
del rough, slopes

# %% ordinary gradients
net(x).square().mean().backward()

# %% a penalty on the gradient of the input
points = torch.rand(600, 400, requires_grad=True)
slope = torch.autograd.grad(net(points).sum(), points, create_graph=True)[0]
(slope.norm(dim=1) - 1).square().mean().backward()
del slope

# %% a Hessian of torch.func
def energy(position):
    return (position.square().sum() + position.prod()).sin()

hessian = torch.func.hessian(energy)(torch.rand(600))

# %% set to None in time
net(x).square().mean().backward(create_graph=True)
rough = sum(p.grad.square().sum() for p in net.parameters()).item()
net.zero_grad()

# %% used by the next cell: made
net(x).square().mean().backward(create_graph=True)

# %% used by the next cell: used
rough = sum(p.grad.square().sum() for p in net.parameters()).item()
for p in net.parameters():
    p.grad = None

# %% a model that goes with its gradients set to None
other = potential()
other(x).mean().backward(create_graph=True)
other.zero_grad()
del other

# %% the end
text = f"{rough:.3f}"
