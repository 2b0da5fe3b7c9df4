# %% corners of tensors in a list: cut
import torch

corners = []
for number in range(8):
    corners.append(torch.rand(400, 500)[:6, :6])

# %% corners of tensors in a list: still there  # expect: XL118
count = len(corners)

# %% rows of arrays in a dictionary: cut
import numpy as np

first_rows = {}
for name in ("a", "b", "c"):
    first_rows[name] = np.ones((300, 700))[0]

# %% rows of arrays in a dictionary: still there  # expect: XL118
names = sorted(first_rows)

# %% the head of one large tensor, by name: cut
head = torch.rand(16_000, 300).detach()[:4]

# %% the head of one large tensor, by name: still there  # expect: XL118
shape = head.shape

# %% a column beside other values, through numpy: cut
scores = {"column": torch.rand(24_000, 200)[:, 7].numpy(), "seed": 3}

# %% a column beside other values, through numpy: still there  # expect: XL118
seed = scores["seed"]

# %% all but the last, which has a name: cut
tops = []
for number in range(8):
    page = torch.rand(400, 500)
    tops.append(page[:2])

# %% all but the last, which has a name: still there  # expect: XL118
count = len(tops)

# %% columns of frames that were made from one array: cut
import pandas as pd

def closes_of(seed):
    table = np.random.default_rng(seed).normal(size=(50_000, 8))
    return pd.DataFrame(table, columns=list("abcdefgh"))["d"]

closes = {seed: closes_of(seed) for seed in range(4)}

# %% columns of frames that were made from one array: still there  # expect: XL118
lengths = {seed: len(column) for seed, column in closes.items()}

# %% slices of Arrow tables: cut
import pyarrow as pa

samples = []
for seed in range(4):
    samples.append(pa.table({"a": np.ones(100_000) * seed, "b": np.ones(100_000)}).slice(1_000, 20))

# %% slices of Arrow tables: still there  # expect: XL118
rows = [sample.num_rows for sample in samples]

# %% windows on messages: cut
heads = [memoryview(bytes(2_000_000))[:16] for number in range(3)]

# %% windows on messages: still there  # expect: XL118
count = len(heads)

# %% two names for parts of what has none: cut
def ends():
    whole = np.ones((3_000, 1_000))
    return whole[:2], whole[-2:]

top, bottom = ends()

# %% two names for parts of what has none: still there  # expect: XL118
shapes = top.shape, bottom.shape
