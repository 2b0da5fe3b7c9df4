# %% an activation: defined
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(100, 400)
        self.head = nn.Linear(400, 4)

    def forward(self, x):
        self.hidden = torch.tanh(self.inner(x))  # lint: XL103
        return self.head(self.hidden)

encoder = Encoder()

# %% an activation: run  # expect: XL103
level = encoder(torch.rand(1_000, 100)).mean().item()

# %% kept to be looked at: defined
class Shown(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(100, 400)
        self.head = nn.Linear(400, 4)

    def forward(self, x):
        y = torch.tanh(self.inner(x))
        self.last_seen = y  # lint: XL103
        return self.head(y)

shown = Shown()

# %% kept to be looked at: run  # expect: XL103
level = shown(torch.rand(1_000, 100)).mean().item()

# %% the input of a pass without a graph: defined
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(600, 4)

    def forward(self, x):
        self.latest_input = x  # lint: XL103
        return self.head(x)

reader = Reader()

# %% the input of a pass without a graph: run  # expect: XL103
with torch.no_grad():
    level = reader(torch.rand(1_000, 600)).mean().item()

# %% in a model of others, by a method of its own: defined
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(100, 500)

    def weigh(self, x):
        self.weights_seen = torch.softmax(self.query(x), -1)  # lint: XL103
        return self.weights_seen

    def forward(self, x):
        return self.weigh(x).sum(1)

model = nn.Sequential(nn.Linear(50, 100), Attention())
attention = model[1]

# %% in a model of others, by a method of its own: run  # expect: XL103
level = model(torch.rand(1_000, 50)).mean().item()

# %% a list that grows: defined
class Tapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(100, 400)
        self.taps = []

    def forward(self, x):
        y = self.inner(x)
        self.taps.append(y.detach())  # lint: XL103
        return y.mean()

tapped = Tapped()

# %% a list that grows: once
level = tapped(torch.rand(1_000, 100)).item()

# %% a list that grows: twice
level = tapped(torch.rand(1_000, 100)).item()

# %% a list that grows: three times  # expect: XL103
level = tapped(torch.rand(1_000, 100)).item()
