# %% copies
import numpy as np
import torch

corners = []
for number in range(8):
    corners.append(torch.rand(400, 500)[:6, :6].clone())
rows = [np.ones((300, 700))[0].copy() for number in range(3)]

# %% the whole has a name as well
table = torch.rand(2_000, 300)
head = table[:4]
column = table[:, 3]

# %% all parts of one block
chunks = list(torch.rand(2_000, 300).split(100))
halves = np.array_split(np.ones((2_000, 300)), 50)

# %% masks and lists of numbers copy
values = torch.rand(2_000, 300)
chosen = values[[1, 5, 7]]
large = values[values > 0.999]
del values

# %% another shape of the whole
flat = torch.rand(2_000, 300).view(-1).T

# %% a slice that was used and dropped
for number in range(4):
    corner = torch.rand(1_000, 500)[:2]
    level = corner.sum().item()
del corner

# %% what a loop leaves in its variables, of less than a mebibyte
for row in torch.rand(500, 300):
    level = row.sum().item()
for left, right in zip(torch.rand(500, 300), np.ones((300, 300))):
    level = left.sum().item() + right.sum()

# %% columns of a frame that has a name, and copies of others
import pandas as pd
import pyarrow as pa

frame = pd.DataFrame(np.ones((100_000, 8)), columns=list("abcdefgh"))
columns = {name: frame[name] for name in "ab"}
starts = [pd.DataFrame(np.ones((50_000, 8)), columns=list("abcdefgh"))["d"].copy() for _ in range(4)]
indexed = pd.Series(np.ones(100_000), index=np.random.default_rng(0).permutation(100_000)).iloc[:10].copy()

# %% an Arrow table that has a name, all slices of another, a window on what has a name
arrow = pa.table({"a": np.ones(200_000), "b": np.ones(200_000)})
sample = arrow.slice(1_000, 20)
quarters = [pa.table({"a": np.ones(400_000)}).slice(0, 300_000) for _ in range(2)]
message = bytes(4_000_000)
start = memoryview(message)[:16]

# %% the end
count = len(corners)
