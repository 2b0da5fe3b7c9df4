# %% a buffer alone
import gc
import weakref

import torch

class Codebook(torch.nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.register_buffer("rows", torch.zeros(size, width))

codebook = Codebook(1_000, 600)
lived = len([[number] for number in range(20_000)])
codebook = None

# %% a weak reference to the parent
class Tree:
    def __init__(self):
        self.table = bytearray(3_000_000)
        self.leaf = Leaf(weakref.ref(self))

class Leaf:
    def __init__(self, parent):
        self.parent = parent

tree = Tree()
lived = len([[number] for number in range(20_000)])
tree = None

# %% a cycle in use
class Grid:
    def __init__(self):
        self.cells = torch.zeros(3_000, 2_000)
        self.neighbours = {"self": self}

grid = Grid()
lived = len([[number] for number in range(20_000)])

# %% a link that is taken in time
second = Grid()
lived = len([[number] for number in range(20_000)])
second.neighbours.clear()
del second

# %% a parametrised model of torch's own: made
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(1_000, 4_000))
        self.deep = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(1_000, 500))

    def forward(self, x):
        return self.wide(x)

net = Net()
traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(1_000, 5_000)))
lived = len([[number] for number in range(20_000)])

# %% a parametrised model of torch's own: deleted
del net, traced

# %% a parametrised model of torch's own: still quiet
count = lived + 1

# %% an error and its traceback: made
class Job:
    def __init__(self):
        self.rows = bytearray(4_000_000)

    def run(self):
        try:
            raise ValueError("no rows")
        except ValueError as error:
            self.failed = error

job = Job()
job.run()
lived = len([[number] for number in range(20_000)])

# %% an error and its traceback: deleted
del job

# %% an error and its traceback: still quiet
count = lived + 1

# %% collected at once
import numpy as np

class Mesh:
    def __init__(self):
        self.points = np.zeros(500_000)
        self.owner = self  # lint: XL106

mesh = Mesh()
del mesh
gc.collect();
