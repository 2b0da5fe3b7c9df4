# %% contexts in a list
import torch
from torch.autograd import Function

debug_taps = []

class Clamp(Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        debug_taps.append((ctx, z))  # lint: XL105
        return z.clamp(-1, 1)

# %% a class attribute, in the backward pass
import torch.autograd as autograd

class Square(autograd.Function):
    gradients = []

    @staticmethod
    def backward(ctx, gradient):
        Square.gradients.append(gradient)  # lint: XL105
        return gradient

# %% the old style
class Old(torch.autograd.Function):
    def forward(self, z):
        self.z = z  # lint: XL105
        return z * z
