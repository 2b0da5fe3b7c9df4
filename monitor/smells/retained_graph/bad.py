# %% the flag on the only backward pass: led back
import torch

net = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.Sigmoid(), torch.nn.Linear(400, 20))
loss = net(torch.rand(2_000, 200)).square().mean()
loss.backward(retain_graph=True)  # lint: XL206

# %% the flag on the only backward pass: still there  # expect: XL206
norms = [weight.grad.norm().item() for weight in net.parameters()]

# %% in a function that returns the loss: led back
def step(batch):
    error = net(batch).abs().mean()
    error.backward(retain_graph=True)  # lint: XL206
    return error

latest = step(torch.rand(3_000, 200))

# %% in a function that returns the loss: still there  # expect: XL206
value = latest.item()

# %% gradients of the input, with the output beside it: led back
images = torch.rand(2_000, 200, requires_grad=True)
scores = net(images)
target = scores[:, 3].sum()
(saliency,) = torch.autograd.grad(target, images, retain_graph=True)  # lint: XL206

# %% gradients of the input, with the output beside it: still there  # expect: XL206
largest = saliency.abs().max().item()
