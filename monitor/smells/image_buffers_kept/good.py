# %% a folder of pictures
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

folder = Path(tempfile.mkdtemp())
for number in range(9):
    Image.new("RGB", (1200, 1200), (number, 0, 0)).save(folder / f"{number}.png")
paths = sorted(folder.glob("*.png"))

# %% a generator
def variants(names):
    for name in names:
        with Image.open(name) as picture:
            yield np.asarray(picture.transpose(0), "float32")
            yield np.asarray(picture.transpose(1), "float32")

means = [float(variant.mean()) for variant in variants(paths)]

# %% a small data set
data = [np.asarray(Image.open(path).convert("L")) for path in paths]

# %% a small data set: used
print(data[0].shape)

# %% on the way into one array
pages = []
for path in paths:
    with Image.open(path) as picture:
        for turn in range(6):
            pages.append(np.asarray(picture.transpose(turn), "float32"))

# %% in one array
cube = np.stack(pages)
del pages

# %% one array
print(cube.shape)

# %% gone
del cube

# %% a grid to look at
grid = [Image.open(path).resize((5000, 5000)) for path in paths[:3]]

# %% a grid to look at: shown
print(grid[0].size)

# %% thumbnails
icons = [Image.open(path).resize((32, 32)) for path in paths * 9]

# %% thumbnails: shown
print(icons[0].size)

# %% large arrays that are no pictures
paths_of_points = [np.ones((3_000_000, 3)) for walk in range(5)]

# %% large arrays that are no pictures: used
print(paths_of_points[0].shape)

# %% a few pictures that are read later
demo = [Image.open(path) for path in paths]  # lint: XL508

# %% a few pictures that are read later: named
print(demo[0].filename)

# %% a few pictures that are read later: sizes
print(demo[0].size)

# %% the pages of one film, read in the next cell
film = [Image.open(path) for path in paths * 6]  # lint: XL508

# %% the pages of one film: read
sides = [max(page.convert("L").resize((8, 8)).size) for page in film]
film.clear()

# %% the pages of one film: gone
print(sum(sides))

# %% a lazy data set
class Pictures:
    def __init__(self, names):
        self.names = names

    def __getitem__(self, at):
        return Image.open(self.names[at]).convert("RGB")

first = Pictures(paths)[0]

# %% a lazy data set: used
print(first.size)
