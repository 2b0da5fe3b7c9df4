# %% at each error
%pdb on  # lint: XL412

# %% in a function
def relax(grid):
    breakpoint()  # lint: XL412
    return grid.mean()

# %% by another name
from pdb import post_mortem as examine

try:
    relax(None)
except AttributeError as error:
    examine(error.__traceback__)  # lint: XL412
