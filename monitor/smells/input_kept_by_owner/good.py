# %% a bar that goes with its loop
import numpy as np
from tqdm import tqdm

def batches(count):
    return [np.random.default_rng(seed).normal(size=150_000) for seed in range(count)]

highest = max(batch.max() for batch in tqdm(batches(20), leave=False))

# %% an iterator over what has a name
data = batches(20)
rows = enumerate(data)
first = next(rows)[1].mean()

# %% a grouping that is used again
import pandas as pd

frame = pd.DataFrame(np.random.default_rng(0).normal(size=(600_000, 4)), columns=list("abcd"))
by_sign = frame.assign(sign=frame.a > 0).groupby("sign")
sizes = len(by_sign)

# %% a net whose pruning is permanent
import torch
from torch.nn.utils import prune

net = torch.nn.Sequential(torch.nn.Linear(1000, 2000), torch.nn.ReLU(), torch.nn.Linear(2000, 1))
prune.l1_unstructured(net[0], "weight", amount=0.8)
prune.remove(net[0], "weight")

# %% used again
with torch.no_grad():
    print(net(torch.ones(1, 1000)).shape)
print(highest, first, sizes, by_sign.ngroups, len(frame), len(data))

# %% a verdict
%leakcheck
