# %% the class by another name, the output under its own name too
from torch.autograd import Function
import torch

class Squash(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.y = y  # lint: XL210
        return y

# %% set up apart
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.cube = output  # lint: XL210

# %% one output of two, and an input
class Split(Function):
    @staticmethod
    def forward(ctx, x, weight):
        low, high = x.clamp(max=0), x.clamp(min=0) * weight.abs()
        ctx.high = high  # lint: XL210
        ctx.weight = weight  # lint: XL210
        return low, high
