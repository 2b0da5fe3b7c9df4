# %% what autograd lets go of
import torch

class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        ctx.width = z.shape[-1]
        parts = []
        parts.append(z)
        return parts[0].clamp(-1, 1)

# %% emptied by another cell
seen = []

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z):
        seen.append(z)
        return z * z

# %% emptied
seen.clear()

# %% numbers
sizes = []

def measure(z):
    sizes.append(torch.rand(3).sum().item())

# %% a list that a function returns
def squares(count):
    found = []
    for number in range(count):
        found.append(torch.rand(number))
    return found
