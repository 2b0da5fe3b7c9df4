# %% a folder of pictures
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

folder = Path(tempfile.mkdtemp())
for number in range(9):
    Image.new("RGB", (1200, 1200), (number, 0, 0)).save(folder / f"{number}.png")
paths = sorted(folder.glob("*.png"))

# %% variants of each picture, in a function
def augment(names):
    stack = []
    for name in names:
        picture = Image.open(name).convert("RGB")
        stack.append(np.asarray(picture.transpose(0), "float32"))  # lint: XL508
        stack.append(np.asarray(picture.transpose(1), "float32"))
    return stack

stack = augment(paths)

# %% variants: something else  # expect: XL508
print(len(stack))

# %% pictures of PIL with their labels, in an object
class Album:
    def __init__(self):
        self.pages = []

    def fill(self, names):
        for name in names:
            with Image.open(name) as picture:
                for turn in range(6):
                    self.pages.append((picture.transpose(turn), turn))

album = Album()
album.fill(paths)

# %% pictures of PIL: something else  # expect: XL508
print(album.pages[0][0].size)

# %% by name, from a comprehension
crops = {
    f"{path.stem}-{turn}": {"image": np.array(Image.open(path).rotate(90 * turn)) * 2.0, "turn": turn}
    for path in paths
    for turn in range(1)
}

# %% by name: shown  # expect: XL508
print(sorted(crops)[0])

# %% opened and not read
previews = Path(tempfile.mkdtemp())
for number in range(60):
    Image.new("RGB", (300, 300)).save(previews / f"{number}.png")
opened = [Image.open(path) for path in previews.glob("*.png")]  # lint: XL508

# %% opened and not read: something else
print(len(opened))

# %% opened and not read: still something else  # expect: XL508
print(opened[0].size)
