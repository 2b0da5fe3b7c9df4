# %% made once
import torch
from torch import nn

class Mixer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        return torch.sigmoid(self.gate(x)) * x

# %% as soon as the width is known, under a guard
class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = None

    def build(self, width):
        return nn.Linear(width, width)

    def forward(self, x):
        if self.gate is None:
            self.gate = nn.Linear(x.size(-1), 4)
        return self.gate(x)

# %% layers that have no weights
class Head(nn.Module):
    def forward(self, x):
        x = nn.ReLU()(x)
        x = nn.Dropout(0.1)(nn.LayerNorm(x.shape[-1], elementwise_affine=False)(x))
        return nn.Softmax(dim=-1)(x)

# %% a function that makes a model, outside of any module
def forward(width):
    return nn.Sequential(nn.Linear(width, width), nn.ReLU())

model = forward(4)
level = Head()(Lazy()(Mixer(4)(model(torch.rand(8, 4))))).mean().item()

# %% layers that a list hides from their module, but that are made once
class Hidden(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = []
        for number in range(3):
            self.add(nn.Linear(width, width))

    def add(self, layer):
        self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

hidden = Hidden(400)
level = [hidden(torch.rand(2, 400)).mean().item() for step in range(4)]

# %% made by the first pass, under a guard
class OnFirstPass(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []

    def build(self, width):
        for number in range(4):
            self.layers.append(nn.Linear(width, width))

    def forward(self, x):
        if not self.layers:
            self.build(x.shape[1])
        for layer in self.layers:
            x = layer(x)
        return x

late = OnFirstPass()
level = [late(torch.rand(2, 400)).mean().item() for step in range(4)]

# %% one for each width that comes, looked up first
class ByWidth(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {}

    def head_of(self, width):
        head = self.heads.get(width)
        if head is None:
            head = self.heads[width] = nn.Linear(width, 300)
        return head

    def forward(self, x):
        return self.head_of(x.shape[1])(x)

heads = ByWidth()
level = [heads(torch.rand(2, width)).mean().item() for width in (300, 400, 500, 300)]

# %% layers of its own that a pass writes down
class Routed(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(300, 300) for number in range(4))
        self.chosen = []

    def forward(self, x):
        for expert in self.experts:
            self.chosen.append(expert)
            x = expert(x)
        return x

routed = Routed()
level = [routed(torch.rand(2, 300)).mean().item() for step in range(4)]

# %% grown from outside, between two phases
class Progressive(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = []

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x

progressive = Progressive()
for phase in range(4):
    progressive.stages.append(nn.Linear(300, 300))
    level = progressive(torch.rand(2, 300)).mean().item()

# %% made by the first pass, in a loop under a guard
class InLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList()

    def forward(self, x):
        if not self.layers:
            for number in range(2):
                self.layers.append(nn.Linear(x.shape[1], x.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return x

looped = InLoop()
level = [looped(torch.rand(2, 300)).mean().item() for step in range(4)]

# %% made where an early return did not leave
class Early(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {}

    def forward(self, x):
        if x.shape[1] in self.heads:
            return self.heads[x.shape[1]](x)
        head = nn.Linear(x.shape[1], 300)
        self.heads[x.shape[1]] = head
        return head(x)

early = Early()
level = [early(torch.rand(2, 300)).mean().item() for step in range(4)]
