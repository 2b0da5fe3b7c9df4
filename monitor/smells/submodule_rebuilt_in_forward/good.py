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
