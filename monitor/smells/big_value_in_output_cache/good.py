# %% shown, and used by its number: shown
import numpy as np

readings = np.zeros(400_000)
readings  # lint: XL401

# %% shown, and used by its number: used
first = Out[1][0]

# %% shown, and used by its number: deleted
del readings

# %% shown, and used by _: shown
samples = np.zeros(400_000)
samples  # lint: XL401

# %% shown, and used by _: used
count = len(_)

# %% shown, and used by _: deleted
del samples

# %% shown and still named
rows = np.zeros(500_000)
rows  # lint: XL401

# %% ended with a semicolon
np.zeros(400_000);

# %% a small value
bytes(1_000)

# %% in a container: shown
history = [np.zeros(400_000)]
history[0]

# %% in a container: another one takes it over
archive = {"history": history}
del history

# %% a summary in place of the value: shown
grid = np.zeros((600, 600))
grid.shape, grid.dtype

# %% a summary in place of the value: deleted
del grid

# %% a view whose base is still named
import torch

weights = torch.zeros(1_000_000)
weights[:3]  # lint: XL401

# %% held by an attribute
class Holder:
    pass

holder = Holder()
holder.value = torch.zeros(500_000)
holder.value

# %% an assignment shows nothing
losses = torch.zeros(500_000)
