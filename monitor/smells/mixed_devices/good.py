# %% a buffer
import torch
from torch import nn

torch.set_num_threads(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

class Warp(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("grid", torch.linspace(-1, 1, 64), persistent=False)
        self.scale = nn.Parameter(torch.ones(64))

    def forward(self, wave):
        return wave * self.grid * self.scale

out = Warp().to(device)(torch.rand(64, device=device))

# %% looked after
class Careful(nn.Module):
    def __init__(self):
        super().__init__()
        self.grid = torch.linspace(-1, 1, 64)

    def forward(self, wave):
        return wave * self.grid.to(wave.device)

out = Careful().to(device)(torch.rand(64, device=device))

# %% no dimension, or only an index
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.half = torch.tensor(0.5)
        self.order = torch.arange(63, -1, -1)

    def forward(self, wave):
        return wave[self.order] * self.half

out = Small().to(device)(torch.rand(64, device=device))

# %% no module
class Scaler:
    def __init__(self):
        self.mean = torch.zeros(64)

    def forward(self, rows):
        return rows - self.mean

rows = Scaler().forward(torch.rand(3, 64))

# %% a state that each pass replaces
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = torch.zeros(64)

    def forward(self, wave):
        self.seen = self.seen.to(wave) + wave.detach()
        return wave

out = Counter().to(device)(torch.rand(64, device=device))

# %% made on the device, and a checkpoint that says where
class Placed(nn.Module):
    def __init__(self):
        super().__init__()
        self.grid = torch.ones(64, device=device)

    def forward(self, wave):
        return wave * self.grid

import io

file = io.BytesIO()
torch.save(Warp().state_dict(), file)
file.seek(0)
state = torch.load(file, map_location="cpu")
