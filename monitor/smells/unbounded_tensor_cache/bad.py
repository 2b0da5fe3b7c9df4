# %% a dictionary by path: defined
import functools

import numpy as np
import torch

by_path = {}

def features(path):
    if path not in by_path:
        by_path[path] = np.ones(200_000)  # lint: XL109
    return by_path[path]

# %% a dictionary by path: once
level = features("a.png").mean()

# %% a dictionary by path: twice
level = features("b.png").mean() + features("a.png").mean()

# %% a dictionary by path: three times  # expect: XL109
level = features("c.png").mean()

# %% arrays as keys never hit: defined
class Scan:
    def __init__(self, size):
        self.voxels = np.ones(size)

@functools.lru_cache(maxsize=None)  # lint: XL109
def histogram(scan):
    return np.histogram(scan.voxels)

# %% arrays as keys never hit: asked  # expect: XL109
for size in range(30):
    histogram(Scan(10_000 + size))

# %% a cache of functools by name: defined
@functools.cache
def embedding(word):
    return torch.full((600, 600), float(len(word)))

# %% a cache of functools by name: once
norm = embedding("one").norm()

# %% a cache of functools by name: some more
norm = embedding("two").norm() + embedding("three").norm()

# %% a cache of functools by name: the same
norm = embedding("two").norm() + embedding("three").norm()

# %% a cache of functools by name: others  # expect: XL109
norm = embedding("four").norm() + embedding("five").norm()

# %% in an object: defined
class Encoder:
    def __init__(self):
        self.memo = {}

    def encode(self, text):
        return self.memo.setdefault(text, torch.rand(500, 600)).sum()  # lint: XL109

encoder = Encoder()

# %% in an object: once
total = encoder.encode("a")

# %% in an object: twice
total = encoder.encode("b")

# %% in an object: three times  # expect: XL109
total = encoder.encode("c")
