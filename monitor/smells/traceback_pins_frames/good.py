# %% the error is caught
import numpy as np

def fold(size):
    pair = np.zeros((size, size))
    return pair.reshape(3, -1)

try:
    fold(800)
except ValueError as error:
    print("failed:", error)

# %% an error with small locals  # raises
def small(size):
    pair = np.zeros(size)
    return pair.reshape(3, -1)

small(100)

# %% the value has a name  # raises
grid = np.zeros((800, 800))

def shaped(values):
    return values.reshape(3, -1)

shaped(grid)

# %% a generator that is still in use
def rows():
    block = np.zeros((800, 800))
    for row in block:
        yield row

reader = rows()
first = next(reader)
