# %% once
import torch

fast = torch.compile(torch.nn.Linear(4, 4), backend="eager")
for turn in range(8):
    fast(torch.rand(2, 4))

# %% a decorator at the definition
@torch.compile(backend="eager")
def doubled(x):
    return 2 * x

for turn in range(8):
    doubled(torch.rand(2))

# %% a few variants
for mode in (True, False):
    variant = torch.compile(torch.nn.Linear(4, 4), backend="eager", dynamic=mode)
    variant(torch.rand(2, 4))

# %% only if it was asked for
for turn in range(8):
    model = torch.nn.Linear(4, 4)
    if turn == 7:
        model = torch.compile(model, backend="eager")

# %% many lengths of one dynamic function
@torch.compile(backend="eager", dynamic=True)
def scaled(x):
    return x * 3

for length in range(2, 14):
    scaled(torch.rand(length))

# %% some lengths, within the limit
@torch.compile(backend="eager", dynamic=False)
def shifted(x):
    return x + 3

for length in range(2, 8):
    shifted(torch.rand(length))
