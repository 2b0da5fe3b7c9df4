# %% three statements in a row
import torch

with torch.no_grad():
    volume = torch.rand(20, 20, 20)
    volume = volume - volume.mean()  # lint: XL117
    volume = volume / volume.std()
    volume = torch.clamp(volume, -3, 3)

# %% in a function, by methods
@torch.no_grad()
def load(count):
    images = torch.rand(count, 3, 8, 8)
    images = images.mul(255)  # lint: XL117
    images = images.round()
    images = images.clamp(0, 255)
    images = images / 255
    return images

batch = load(4)

# %% data that never had a graph, in a loop
from torch import sqrt

for turn in range(3):
    noise = torch.randn(100, 100)
    noise = noise * 2  # lint: XL117
    noise = noise.abs()
    noise = sqrt(noise)
    level = noise.mean().item()

# %% a large volume  # expect: XL117
with torch.no_grad():
    scan = torch.rand(17, 1024, 1024)
    scan = scan - 0.5  # lint: XL117
    scan = scan / 2
    scan = torch.clamp(scan, -3, 3)

# %% from one cell
film = torch.rand(17, 1024, 1024)

# %% in another  # expect: XL117
film = film * 255  # lint: XL117
film = film.round()
film = film.clamp(0, 255)
film = film / 255

# %% in a loop, by functions of the module  # expect: XL117
for turn in range(2):
    film = torch.abs(film)  # lint: XL117
    film = torch.sqrt(film)
    film = torch.square(film)
