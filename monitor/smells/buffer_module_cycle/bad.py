# %% a buffer that knows its module: made
import gc

import torch

class Codebook(torch.nn.Module):
    def __init__(self, size, width):
        super().__init__()
        rows = torch.zeros(size, width)
        rows.module = self  # lint: XL106
        self.register_buffer("rows", rows)

codebook = Codebook(1_000, 600)
# What lives for a while is looked at seldom.
lived = len([[number] for number in range(20_000)])

# %% a buffer that knows its module: replaced
codebook = Codebook(1_000, 600)

# %% a buffer that knows its module: still there  # expect: XL106
size = codebook.rows.numel()

# %% a child that knows its parent: made
gc.collect()

class Tree:
    def __init__(self):
        self.table = bytearray(3_000_000)
        self.leaves = [Leaf(self) for number in range(4)]  # lint: XL106

class Leaf:
    def __init__(self, parent):
        self.parent = parent

forest = [Tree() for number in range(3)]
lived = len([[number] for number in range(20_000)])

# %% a child that knows its parent: dropped
forest.clear()

# %% a child that knows its parent: still there  # expect: XL106
count = len(forest)

# %% so large that it is told at once: made
gc.collect()
import numpy as np

class Grid:
    def __init__(self):
        self.cells = np.zeros((2_000, 2_000))
        self.neighbours = {"self": self}

grid = Grid()
lived = len([[number] for number in range(20_000)])

# %% so large that it is told at once: deleted  # expect: XL106
del grid
