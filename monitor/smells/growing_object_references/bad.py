# %% a debugging list that a function fills: defined
import numpy as np

taps = []

def evaluate(size):
    output = np.ones(size)
    taps.append((size, output))  # lint: XL105
    return output.mean()

# %% a debugging list that a function fills: once
score = evaluate(200_000)

# %% a debugging list that a function fills: twice
score = evaluate(210_000)
print(len(taps))

# %% a debugging list that a function fills: three times  # expect: XL105
score = evaluate(220_000)

# %% contexts of a function of autograd: defined
import torch

seen = {}

class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        seen[len(seen)] = (ctx, z)  # lint: XL105
        return z.clamp(-1, 1)

    @staticmethod
    def backward(ctx, gradient):
        (z,) = ctx.saved_tensors
        return gradient * (z.abs() <= 1)

encoder = torch.nn.Linear(100, 400)

def step():
    Clamp.apply(encoder(torch.rand(800, 100))).sum().backward()
    return encoder.weight.grad.norm().item()

# %% contexts of a function of autograd: once
norms = [step()]

# %% contexts of a function of autograd: twice
norms.append(step())

# %% contexts of a function of autograd: three times  # expect: XL105
norms.append(step())

# %% contexts within one cell  # expect: XL105
late = []

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        late.append((ctx, z))  # lint: XL105
        ctx.save_for_backward(z)
        return z * z

    @staticmethod
    def backward(ctx, gradient):
        (z,) = ctx.saved_tensors
        return 2 * z * gradient

for batch in range(4):
    Square.apply(encoder(torch.rand(800, 100))).mean().backward()

# %% lists by layer: defined
outputs = {}

def tap(name):
    def look(module, inputs, output):
        outputs.setdefault(name, []).append(output.detach())  # lint: XL105

    return look

layers = torch.nn.Sequential(torch.nn.Linear(100, 400), torch.nn.Linear(400, 500))
for name, layer in layers.named_children():
    layer.register_forward_hook(tap(name))  # lint: XL107

# %% lists by layer: once
level = layers(torch.rand(1_000, 100)).mean().item()

# %% lists by layer: twice
level = layers(torch.rand(1_000, 100)).mean().item()
print({name: len(passed) for name, passed in outputs.items()})

# %% lists by layer: three times  # expect: XL105
level = layers(torch.rand(1_000, 100)).mean().item()
