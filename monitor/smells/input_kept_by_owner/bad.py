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

# %% a verdict
print(first, sizes)

# %% a verdict: asked for  # expect: XL424 # expect: XL424 # expect: XL424
%leakcheck
