# %% what the cells below need
import numpy as np
import pandas as pd

def build(rows):
    return {"weights": np.ones(rows), "bias": np.ones(10)}

# %% an array
volume = np.ones(20 << 20)

# %% the same cell run again: an array  # expect: XL411
volume = np.ones(20 << 20)

# %% a frame
frame = pd.DataFrame(np.ones((26 << 20, 1)))

# %% the same cell run again: a frame  # expect: XL411
frame = pd.DataFrame(np.ones((26 << 20, 1)))

# %% what a function of the user's makes
rate = 0.1
model = build(32 << 20)

# %% the same cell run again: with another line before it  # expect: XL411
rate = 0.1
model = build(32 << 20)
