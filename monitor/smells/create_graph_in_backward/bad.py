# %% a model with a name: differentiated
import torch

torch.set_num_threads(1)

def potential():
    return torch.nn.Sequential(
        torch.nn.Linear(400, 500), torch.nn.Tanh(), torch.nn.Linear(500, 300)
    )

def roughness(model):
    model(torch.rand(600, 400)).square().mean().backward(create_graph=True)  # lint: XL205
    return sum(p.grad.square().sum() for p in model.parameters()).item()

net = potential()
rough = roughness(net)

# %% a model with a name: still there  # expect: XL205
text = f"{rough:.3f}"

# %% bare tensors: differentiated
weights = [torch.rand(700, 600, requires_grad=True) for number in range(3)]
product = (weights[0] * weights[1] * weights[2]).sigmoid().sum()
product.backward(create_graph=True)  # lint: XL205
del product

# %% bare tensors: still there  # expect: XL205
shapes = [weight.shape for weight in weights]

# %% models without a name  # expect: XL205
roughs = [roughness(potential()) for number in range(3)]
