# %% errors kept in a list  # expect: XL403
import numpy as np

failures = []

def relax(size):
    grid = np.zeros((size, size))
    return grid.reshape(3, -1)

try:
    relax(800)
except ValueError as error:
    failures.append(error)  # lint: XL403

# %% an error kept by a name  # expect: XL403
try:
    relax(700)
except ValueError as error:
    last_failure = error  # lint: XL403

# %% an error with a cause  # expect: XL403
def load(size):
    table = np.zeros((size, size))
    try:
        return relax(size)
    except ValueError as error:
        raise RuntimeError("not relaxed") from error

try:
    load(500)
except RuntimeError as error:
    report = {"error": error}  # lint: XL403
