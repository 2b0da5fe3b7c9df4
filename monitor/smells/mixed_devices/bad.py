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
