# %% a value with no name  # expect: XL401
import array

array.array("d", bytes(8 * 150_000))

# %% shown, then deleted: shown
import numpy as np

rows = np.zeros(500_000)
rows  # lint: XL401

# %% shown, then deleted: deleted  # expect: XL401
del rows

# %% shown, then rebound: shown
table = np.zeros((1_000, 500))
table  # lint: XL401

# %% shown, then rebound: rebound  # expect: XL401
table = None

# %% a list of arrays: shown
parts = [np.zeros(100_000) for part in range(4)]
parts

# %% a list of arrays: deleted  # expect: XL401
del parts

# %% plain objects: shown
words = {f"word {number}": [number] for number in range(20_000)}
words

# %% plain objects: deleted  # expect: XL401
del words

# %% a view of an array: shown
grid = np.zeros((600, 600))
grid.T  # lint: XL401

# %% a view of an array: it keeps the base  # expect: XL401
del grid

# %% a slice of a tensor: shown
import torch

weights = torch.zeros(1_000_000)
weights[:3]  # lint: XL401

# %% a slice of a tensor: it keeps the storage  # expect: XL401
del weights

# %% a model: shown
model = torch.nn.Linear(1_000, 500)
model  # lint: XL401

# %% a model: deleted  # expect: XL401
del model

# %% a data frame: shown
import pandas as pd

frame = pd.DataFrame({"reading": np.arange(400_000.0)})
frame  # lint: XL401

# %% a data frame: deleted  # expect: XL401
del frame
