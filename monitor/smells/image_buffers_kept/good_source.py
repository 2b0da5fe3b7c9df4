# %% readers that are closed
import imageio

lengths = []
for film in films:
    reader = imageio.get_reader(film)
    lengths.append(reader.count_frames())
    reader.close()

# %% readers in a with block
for film in films:
    with imageio.get_reader(film) as reader:
        lengths.append(reader.count_frames())

# %% one picture for each file, and its shape
import cv2

pictures = []
shapes = []
for path in paths:
    picture = cv2.imread(path)
    pictures.append(cv2.resize(picture, (224, 224)))
    shapes.append(picture.shape)
    shapes.append((picture.shape[0], picture.shape[1]))

# %% a generator
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

folder = Path(tempfile.mkdtemp())
for number in range(9):
    Image.new("RGB", (80, 80), (number, 0, 0)).save(folder / f"{number}.png")
paths = sorted(folder.glob("*.png"))

def variants(names):
    for name in names:
        with Image.open(name) as picture:
            yield np.asarray(picture.rotate(8))
            yield np.asarray(picture.transpose(0))

sizes = [variant.shape for variant in variants(paths)]

# %% a small data set
data = []
for path in paths:
    data.append(np.asarray(Image.open(path).convert("L")))

# %% thumbnails
icons = []
for path in paths:
    picture = Image.open(path).resize((32, 32))
    icons.append(np.asarray(picture))
    icons.append(np.asarray(picture.rotate(90)))

# %% one picture at a time
class Pictures:
    def __init__(self, names):
        self.names = names

    def __getitem__(self, at):
        return Image.open(self.names[at]).convert("RGB")

first = Pictures(paths)[0]

# %% a demo of a few
demo = [Image.open(folder / name) for name in ("0.png", "1.png", "2.png")]

# %% a few names
names = ["3.png", "4.png", "5.png"]
few = [Image.open(folder / name) for name in names]

# %% read before they are handed back
def stacked(files):
    opened = []
    for file in files:
        opened.append(Image.open(file))
    return np.stack(opened)

cube = stacked(paths)

# %% the pages of one film
pages = [Image.open(path) for path in paths]
pages[0].save(folder / "film.gif", save_all=True, append_images=pages[1:])

# %% picture and mask
xs, masks = [], []
for path in paths:
    picture, mask = Image.open(path), Image.open(path)
    xs.append(np.asarray(picture))
    masks.append(np.asarray(mask))

# %% a few pictures of one item
class Pairs(Pictures):
    def __getitem__(self, at):
        parts = []
        for kind in ("image", "mask", self.names[at].stem):
            parts.append(Image.open(self.names[at]))
        return parts

# %% a path or a picture, one of the two
def loaded(sources):
    pictures = []
    for source in sources:
        if isinstance(source, Path):
            source = Image.open(source)
            source = source.convert("L")
            pictures.append(source)
        else:
            pictures.append(source)
    return pictures

shapes = [picture.size for picture in loaded(paths)]
