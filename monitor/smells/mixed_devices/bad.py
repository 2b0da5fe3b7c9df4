# %% an operand
import torch
from torch import nn

torch.set_num_threads(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

class Warp(nn.Module):
    def __init__(self):
        super().__init__()
        self.grid = torch.linspace(-1, 1, 64)  # lint: XL606

    def forward(self, wave):
        return wave * self.grid

warp = Warp()
out = warp(torch.rand(64))

# %% an argument, by other names
import torch as th
import torch.nn as layers

class Base(layers.Module):
    def forward(self, wave):
        raise NotImplementedError

class Window(Base):
    def __init__(self, size):
        super().__init__()
        window = 2
        self.shape = th.ones(size, window)  # lint: XL606
        self.edges = th.tensor([0.5, 0.5])  # lint: XL606

    def forward(self, wave):
        return th.matmul(wave, self.shape) + self.edges

window = Window(64)
out = window(torch.rand(3, 64))

# %% moved in another cell
plan = [module.to(device) for module in (nn.Linear(2, 2),)]

# %% a checkpoint
import io

file = io.BytesIO()
torch.save(warp.state_dict(), file)
file.seek(0)
state = torch.load(file)  # lint: XL606

# %% moved: weights, but no attribute  # expect: XL606
class Ripple(nn.Module):
    def __init__(self):
        super().__init__()
        self.phase = torch.linspace(0, 6.28, 128)  # lint: XL606
        self.mix = nn.Linear(128, 4)

    def forward(self, wave):
        return self.mix(wave * self.phase)

ripple = Ripple().to("meta")

# %% a part of a model, under another name
class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(th.ones(width))
        self.window = th.hann_window(width)

    def shaped(self, wave):
        return th.mul(wave, self.window)

    def forward(self, wave):
        return self.shaped(wave) * self.weight

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(64)
        self.head = nn.Linear(64, 2)

    def forward(self, wave):
        return self.head(self.encoder(wave))

# %% made without values, which only the weights get  # expect: XL606
with torch.device("meta"):
    models = {"small": Model()}
small = models["small"].to_empty(device="cpu")

# %% a buffer that was replaced
class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(64))
        self.scale = nn.Parameter(torch.ones(64))

    def forward(self, wave):
        return (wave - self.mean) * self.scale

# %% by one on another device  # expect: XL606
normed = Normed()
normed.to(device="meta")
normed.mean = torch.full((64,), 0.5)

# %% a batch that stayed behind  # raises  # expect: XL606
out = ripple(torch.rand(3, 128))

# %% a checkpoint that lacks names, into a model without values
with torch.device("meta"):
    tail = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
missing = tail.load_state_dict({"0.weight": torch.ones(4, 4)}, strict=False, assign=True)

# %% which they still have not  # expect: XL606
print(len(missing.missing_keys))
