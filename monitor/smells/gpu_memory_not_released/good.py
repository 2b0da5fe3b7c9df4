# needs: gpu
# %% emptied after the last use
import torch

def describe():
    weights = torch.ones(128 << 20, device="cuda")
    return weights.sum().item()

total = describe()
torch.cuda.empty_cache()

# %% nothing more there
words = str(total).split()

# %% nor here
words = sorted(words)

# %% nor there
count = len(words)

# %% the next cells use it again
total = describe()

# %% by one step
total = describe()

# %% and another
total = describe()

# %% and a third
total = describe()
torch.cuda.empty_cache()

# %% a model that names still reach
model = [torch.zeros(16 << 20, device="cuda") for layer in range(8)]

# %% looked at later
sizes = [16 << 20] * 8

# %% plotted in between
heights = sorted(sizes)

# %% and printed
print(len(heights))

# %% a small cache
model = None
torch.cuda.empty_cache()
small = torch.zeros(8 << 20, device="cuda")
del small

# %% is no matter
first = 1

# %% at all
second = 2

# %% ever
third = 3
