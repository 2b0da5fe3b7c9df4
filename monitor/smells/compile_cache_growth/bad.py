# %% a block of each width  # expect: XL322
import torch
from torch import compile as compiled

times = {}
for width in range(16, 192, 16):
    block = torch.compile(torch.nn.Linear(width, width), backend="eager")  # lint: XL322
    times[width] = block(torch.rand(2, width)).shape

# %% until all are done
layers = [torch.nn.Linear(4, 4) for number in range(6)]
while layers:
    layer = compiled(layers.pop(), backend="eager")  # lint: XL322
    layer(torch.rand(2, 4))

# %% a function
def measure(model):
    fast = torch.compile(model, backend="eager")  # lint: XL322
    return fast(torch.rand(2, 4)).shape

# %% that a loop calls
shapes = [measure(torch.nn.Linear(4, width)) for width in range(1, 7)]

# %% one compiled function
def scaled(x, factor):
    return x * factor

faster = torch.compile(scaled, backend="eager", dynamic=False)

# %% for many lengths  # expect: XL322
for length in range(2, 14):
    faster(torch.rand(length), 2)

# %% a method that is compiled
class Filter:
    @torch.compile(backend="eager", dynamic=False)
    def apply(self, x):
        return x.relu() + 1

# %% and run with a few lengths
for length in (3, 4, 5, 6, 7):
    Filter().apply(torch.rand(length))

# %% and with some more  # expect: XL322
for length in (8, 9, 10, 11, 12):
    Filter().apply(torch.rand(length))
