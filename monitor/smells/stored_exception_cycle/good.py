# %% the text is kept
import numpy as np

failures = []

def relax(size):
    grid = np.zeros((size, size))
    return grid.reshape(3, -1)

try:
    relax(800)
except ValueError as error:
    failures.append(repr(error))

# %% an error without its frames
try:
    relax(800)
except ValueError as error:
    kept = error.with_traceback(None)

# %% an error of functions with small locals
try:
    relax(10)
except ValueError as error:
    small = error  # lint: XL403

# %% the large value has a name as well
table = np.zeros((800, 800))

def shape(values):
    return values.reshape(3, -1)

try:
    shape(table)
except ValueError as error:
    shared = error  # lint: XL403
