# %% once for each size
import torch

detector = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
traced = {size: torch.jit.trace(detector, torch.rand(size, 8)) for size in (1, 2, 4)}
for size, fast in traced.items():
    for turn in range(5):
        fast(torch.rand(size, 8))

# %% only the best model
best = 1.0
for epoch in range(5):
    error = 1 / (epoch + 1)
    if error < best:
        best = error
        fast = torch.jit.trace(detector, torch.rand(2, 8))

# %% once, then called in a loop
fast = torch.jit.trace(detector, torch.rand(2, 8))
for turn in range(5):
    fast(torch.rand(2, 8))

# %% a decorator at the definition
@torch.jit.script
def doubled(x: torch.Tensor) -> torch.Tensor:
    return 2 * x

for turn in range(5):
    doubled(torch.rand(2))

# %% kept by its key
cache = {}
for size in [1, 2, 1, 2, 1, 2]:
    if size not in cache:
        cache[size] = torch.jit.trace(detector, torch.rand(size, 8))

# %% large ones that are all in use
def classifier():
    return torch.nn.Sequential(torch.nn.Linear(500, 500), torch.nn.ReLU()).eval()

frozen = {}
for size in (1, 2, 4, 8):
    frozen[size] = torch.jit.freeze(torch.jit.trace(classifier(), torch.rand(size, 500)))

# %% functions of one table, which is still there
table = torch.rand(500, 500)
sums = []
for size in (1, 2, 3, 4):
    shifted = torch.jit.trace(lambda x: x + table, torch.rand(500, 500))
    sums.append(float(shifted(torch.zeros(500, 500)).sum()))

# %% two that were dropped
for size in (1, 2):
    short = torch.jit.freeze(torch.jit.trace(classifier(), torch.rand(size, 500)))
del short
