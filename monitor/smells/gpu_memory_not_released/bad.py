# needs: gpu
# %% a model in a function leaves its blocks
import torch

def describe():
    weights = torch.ones(128 << 20, device="cuda")
    return weights.sum().item()

total = describe()

# %% then the work is elsewhere
words = str(total).split()

# %% and stays there
words = sorted(words)

# %% for a third cell  # expect: XL601
count = len(words)

# %% given back
torch.cuda.empty_cache()

# %% a name that is deleted
batch = torch.zeros(96 << 20, device="cuda")
del batch

# %% one cell without the device
first = 1

# %% two cells without it
second = 2

# %% three cells without it  # expect: XL601
third = 3

# %% given back again
torch.cuda.empty_cache()

# %% a little stays in use
kept = torch.zeros(1000, device="cuda")
large = [torch.zeros(16 << 20, device="cuda") for part in range(8)]

# %% the large ones go
del large

# %% idle
first = 4

# %% idle again  # expect: XL601
second = 5
