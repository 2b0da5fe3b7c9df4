# %% with its own transpose
import torch

songs = torch.rand(60_000, 512, device="cuda")
alike = songs @ songs.T  # lint: XL602

# %% by functions, from another import
from torch import matmul, randn

left = randn(40_000, 64).cuda()
right = randn((64, 40_000), device="cuda")
product = matmul(left, right)  # lint: XL602

# %% by a method, in a function
def scores():
    users = torch.zeros(50_000, 32, device="cuda")
    items = torch.ones(80_000, 32, device="cuda")
    return users.mm(items.t())  # lint: XL602

# %% where there is a device
def alike_on_device():
    many = torch.rand(60_000, 8, device="cuda")
    return many @ many.T  # lint: XL602

if torch.cuda.is_available():
    nearest = alike_on_device().topk(10).indices
