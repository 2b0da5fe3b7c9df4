# %% local variables
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(100, 400)
        self.head = nn.Linear(400, 4)
        self.table = torch.rand(1_000, 400)
        self.register_buffer("mean", torch.zeros(1_000, 400))

    def forward(self, x):
        hidden = torch.tanh(self.inner(x)) + self.table
        with torch.no_grad():
            self.mean.lerp_(hidden, 0.1)
        return self.head(hidden)

encoder = Encoder()
level = encoder(torch.rand(1_000, 100)).mean().item()

# %% detached
class Watched(Encoder):
    def forward(self, x):
        hidden = torch.tanh(self.inner(x))
        self.seen = hidden.detach()
        return self.head(hidden)

watched = Watched()
level = watched(torch.rand(1_000, 100)).mean().item()

# %% a table by shape
class Positions(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(400))
        self.encoding = None

    def forward(self, x):
        if self.encoding is None or self.encoding.shape[0] != x.shape[0]:
            self.encoding = torch.rand(x.shape[0], 400) * self.scale
        return x + self.encoding

positions = Positions()
level = positions(torch.rand(1_000, 400)).mean().item()

# %% a cache that is reset: filled
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(100, 400)
        self.keys = None

    def reset(self):
        self.keys = None

    def forward(self, x):
        self.keys = self.key(x)
        return self.keys.mean()

decoder = Decoder()
level = decoder(torch.rand(1_000, 100)).item()

# %% a cache that is reset: reset
decoder.reset()

# %% a map that the next cell shows: made
class Shown(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(100, 400)

    def forward(self, x):
        attention = torch.softmax(self.query(x), -1)
        self.attention = attention.detach()
        return attention.mean()

shown = Shown()
level = shown(torch.rand(1_000, 100)).item()

# %% a map that the next cell shows: shown
rows = shown.attention.sum(1)

# %% the layers of a model
layers = nn.ModuleList([nn.Linear(600, 600)])

# %% one more layer
layers.append(nn.Linear(600, 600))

# %% and one more layer
layers.append(nn.Linear(600, 600))

# %% the last layer
layers.append(nn.Linear(600, 600))
