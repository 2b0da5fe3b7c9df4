# %% the object itself is a key: made
import functools

import numpy as np

class Volume:
    def __init__(self, size):
        self.voxels = np.zeros(size)

    @functools.lru_cache(maxsize=None)  # lint: XL404
    def histogram(self, bins):
        return bins * 2

scan = Volume(400_000)
doubled = scan.histogram(3)

# %% the object itself is a key: deleted  # expect: XL404
del scan

# %% many objects  # expect: XL404
import torch

class Layer:
    def __init__(self, size):
        self.weight = torch.zeros(size, size)

    @functools.cache  # lint: XL404
    def norm(self):
        return 1.0

norms = [Layer(400).norm() for number in range(4)]

# %% with a limit: made
class Window:
    def __init__(self):
        self.samples = bytearray(3_000_000)

    @functools.lru_cache(maxsize=8)  # lint: XL404
    def level(self, at):
        return self.samples[at]

# %% with a limit: used and dropped  # expect: XL404
level = Window().level(5)
