# %% the first run
import numpy as np

volume = np.ones(12 << 20)

# %% deleted before it is made again
del volume
volume = np.ones(12 << 20)

# %% deleted before it is made again, once more
del volume
volume = np.ones(12 << 20)

# %% a small value
mask = np.ones(4 << 20)

# %% a small value, once more
mask = np.ones(4 << 20)

# %% made from the old value
volume = np.add(volume, 1)

# %% made from the old value, once more
volume = np.add(volume, 1)

# %% the old one is kept for an ensemble
members = []
model = None

# %% another member
model = np.ones(10 << 20)
members.append(model)

# %% another member, once more
model = np.ones(10 << 20)
members.append(model)

# %% a cell that only looks
total = np.concatenate([volume, volume]).sum()

# %% a cell that only looks, once more
total = np.concatenate([volume, volume]).sum()
