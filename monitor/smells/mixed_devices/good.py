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

# %% weights on several devices: a model in parts
parts = nn.Sequential(Warp().to("meta"), Placed(), nn.Linear(64, 4))

# %% a table that stays on the host on purpose
class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = torch.rand(100, 8)
        self.mix = nn.Linear(8, 2)

    def forward(self, numbers):
        return self.mix(self.rows[numbers].to(self.mix.weight.device))

table = Table().to("meta")

# %% looked after, an index, no dimension, a state: all of them moved
moved = [it.to("meta") for it in (Careful(), Small(), Counter())]

# %% what a pass writes down and nothing computes with
class Logged(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = torch.zeros(100)
        self.mix = nn.Linear(8, 2)

    def forward(self, rows):
        return self.mix(rows)

logged = Logged().to("meta")

# %% a module that moves its tensors itself
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.grid = torch.linspace(-1, 1, 8)
        self.mix = nn.Linear(8, 2)

    def _apply(self, change, recurse=True):
        self.grid = change(self.grid)
        return super()._apply(change, recurse)

    def forward(self, rows):
        return self.mix(rows * self.grid)

whole = Whole().to("meta")

# %% a pass that brings its rows along
class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
        self.head = nn.Linear(4, 2, device="meta")

    def forward(self, rows):
        return self.head(self.table(rows).to("meta"))

split = Split()
out = split(torch.arange(9))

# %% a model without values
with torch.device("meta"):
    tail = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))

# %% that gets them in two cells
state = {"0.weight": torch.ones(4, 4), "0.bias": torch.ones(4)}
missing = tail.load_state_dict(state, strict=False, assign=True)

# %% the second
state = {"1.weight": torch.ones(2, 4), "1.bias": torch.ones(2)}
missing = tail.load_state_dict(state, strict=False, assign=True)

# %% and works
out = tail(torch.rand(3, 4))
