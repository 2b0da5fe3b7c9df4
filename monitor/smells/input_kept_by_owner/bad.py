# %% a bar after its loop
import numpy as np
from tqdm import tqdm

def batches(count):
    return [np.random.default_rng(seed).normal(size=150_000) for seed in range(count)]

bar = tqdm(batches(20), leave=False)
for batch in bar:
    if batch.max() > 4:
        break
del batch

# %% an iterator that was left early
rows = enumerate(batches(20))
first = next(rows)[1].mean()

# %% a grouping
import pandas as pd

by_zone = pd.DataFrame(np.random.default_rng(0).normal(size=(600_000, 4)), columns=list("abcd")).groupby("a")
sizes = len(by_zone)

# %% a thread-local of an idle pool
import threading
from concurrent.futures import ThreadPoolExecutor

scratch = threading.local()

def set_up():
    scratch.buffer = np.ones(1_500_000)

def sum_up(number):
    return float(scratch.buffer[:number].sum())

pool = ThreadPoolExecutor(2, initializer=set_up)
sums = list(pool.map(sum_up, range(40)))

# %% a pruned net
import torch
from torch.nn.utils import prune

net = torch.nn.Sequential(torch.nn.Linear(1000, 2000), torch.nn.ReLU(), torch.nn.Linear(2000, 1))
prune.l1_unstructured(net[0], "weight", amount=0.8)

# %% a verdict
with torch.no_grad():
    print(net(torch.ones(1, 1000)).shape)
print(first, sizes, max(sums))

# %% a verdict: asked for  # expect: XL424 # expect: XL424 # expect: XL424 # expect: XL424 # expect: XL424
%leakcheck
