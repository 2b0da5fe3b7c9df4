# %% an output as an attribute  # expect: XL210
import gc

import torch

torch.set_num_threads(1)
# As training loops do that want no pauses.
gc.disable()

class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.out = torch.tanh(x)  # lint: XL210
        return ctx.out

    @staticmethod
    def backward(ctx, slope):
        return slope * (1 - ctx.out.square())

weight = torch.rand(1_000, 1_000, requires_grad=True)
for step in range(6):
    Squash.apply(weight * step).sum().backward()

# %% an input as an attribute  # expect: XL210
gc.collect()

class Softsign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x  # lint: XL210
        return x / (1 + x.abs())

    @staticmethod
    def backward(ctx, slope):
        return slope / (1 + ctx.x.abs()).square()

curve = []
for step in range(4):
    loss = Softsign.apply(weight * step).sum()
    loss.backward()
    curve.append(loss)
del loss

# %% two of them behind results in a dictionary  # expect: XL210
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor, ctx.inputs = factor, x  # lint: XL210
        return x * factor

    @staticmethod
    def backward(ctx, slope):
        return slope * ctx.factor, None

results = {}
for name in ("train", "valid", "test"):
    results[name] = Scale.apply(Softsign.apply(weight * 2), 0.5).mean()
    results[name].backward()
