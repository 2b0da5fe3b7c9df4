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

# %% and made in each iteration of a loop in another
class Stack(nn.Module):
    def forward(self, x):
        for number in range(3):
            x = Block(x.shape[-1])(x)  # lint: XL112
        return x

# %% all of them
mixed = Mixer()(torch.rand(8, 4)) + Encoder(4)(torch.rand(8, 4)) + Stack()(torch.rand(8, 4))

# %% passes over large batches  # expect: XL112
mixer = Mixer()
level = sum(mixer(torch.rand(2, 512)).mean().item() for step in range(6))

# %% a helper, by number, in another module
class Head(Module):
    def __init__(self):
        super().__init__()
        self.made = {}
        self.calls = 0

    def project(self, x):
        layer = torch.nn.Sequential(nn.Linear(x.shape[1], 600), nn.Tanh())  # lint: XL112
        self.made[self.calls] = layer
        self.calls += 1
        return layer(x)

    def forward(self, x):
        return self.project(x)

class Net(Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(300, 300)
        self.head = Head()

    def forward(self, x):
        return self.head(self.body(x))

# %% within a function  # expect: XL112
def evaluate(net, steps):
    with torch.no_grad():
        return [float(net(torch.rand(2, 300)).mean()) for step in range(steps)]

net = Net()
levels = evaluate(net, 4)

# %% pairs, in a list of the class
class Attention(nn.Module):
    pairs = []

    def forward(self, x):
        query, key = nn.Linear(400, 400), nn.Linear(400, 400)  # lint: XL112
        self.pairs.append((query, key))
        return query(x) @ key(x).T

# %% a few passes  # expect: XL112
attention = Attention()
scores = [attention(torch.rand(2, 400)).sum().item() for step in range(3)]
