# %% a layer made in forward, and kept in a list
import torch
import torch.nn as nn

class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = []

    def forward(self, x):
        gate = nn.Linear(x.size(-1), x.size(-1))  # lint: XL112
        self.gates.append(gate)
        return torch.sigmoid(gate(x)) * x

# %% by another name of the class, in a method that forward calls
from torch.nn import BatchNorm1d as Norm, Module

class Encoder(Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def normed(self, x):
        return Norm(self.width)(x)  # lint: XL112

    def forward(self, x):
        return self.normed(x).relu()

# %% a module of one's own, defined in one cell
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.scale

# %% and made in each turn of a loop in another
class Stack(nn.Module):
    def forward(self, x):
        for number in range(3):
            x = Block(x.shape[-1])(x)  # lint: XL112
        return x

# %% all of them
mixed = Mixer()(torch.rand(8, 4)) + Encoder(4)(torch.rand(8, 4)) + Stack()(torch.rand(8, 4))
