# %% a local of the function that failed  # expect: XL402  # raises
import numpy as np

def fold(size):
    pair = np.zeros((size, size))
    return pair.reshape(3, -1)

fold(800)

# %% the next error takes its place  # raises
undefined_name

# %% a local two functions further in  # expect: XL402  # raises
import torch

def outer(rows):
    batch = torch.zeros(rows, 1_000)
    return inner(batch)

def inner(batch):
    return batch[len(batch) + 1]

outer(1_000)

# %% nothing is left of it  # raises
undefined_name

# %% the arguments of a call  # expect: XL402  # raises
def consume(values):
    raise ValueError(len(values))

consume([np.zeros(100_000) for part in range(4)])
