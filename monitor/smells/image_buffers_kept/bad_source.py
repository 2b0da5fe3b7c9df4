# %% readers that nothing closes
import imageio

lengths = []
for film in films:
    reader = imageio.get_reader(film)  # lint: XL508
    lengths.append(reader.count_frames())

# %% the same picture, turned and mirrored, of another library
import cv2

def load(paths):
    pictures = []
    for path in paths:
        picture = cv2.imread(path)
        picture = cv2.resize(picture, (224, 224))
        pictures.append(picture)  # lint: XL508
        pictures.append(cv2.flip(picture, 1))
    return pictures

# %% a folder of pictures
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

folder = Path(tempfile.mkdtemp())
for number in range(9):
    Image.new("RGB", (80, 80), (number, 0, 0)).save(folder / f"{number}.png")
paths = sorted(folder.glob("*.png"))

# %% kept unread
opened = []
for path in paths:
    opened.append(Image.open(path))  # lint: XL508

# %% kept unread in a comprehension of a function, from a module of its own
import PIL.Image

def load(names):
    pictures = [PIL.Image.open(name) for name in names]  # lint: XL508
    return pictures

pictures = load(paths)

# %% variants of each picture, in a function
def augment(names):
    stack = []
    for name in names:
        picture = Image.open(name)
        stack.append(np.asarray(picture.rotate(8), "float32"))  # lint: XL508
        stack.append(np.asarray(picture.transpose(0), "float32"))
    return stack

stack = augment(paths)

# %% in an object, by another name
from PIL.Image import open as open_picture

class Album:
    def __init__(self):
        self.pages = {}

    def fill(self, names):
        for name in names:
            self.pages[name] = open_picture(name)  # lint: XL508

album = Album()
album.fill(paths)
