# %% deleted once it was used
import numpy as np

raw = np.random.default_rng(0).normal(size=(50_000, 8))
daily = raw.reshape(-1, 50, 8).mean(axis=1)
del raw

# %% small
few = np.arange(1000)

# %% used by a function that a later cell calls
table = np.random.default_rng(1).normal(size=300_000)

def lookup(n):
    return table[n]

# %% used in a later cell
grid = np.random.default_rng(2).normal(size=300_000)

# %% under two names
first = second = np.random.default_rng(3).normal(size=300_000)

# %% a verdict
print(lookup(7), grid.mean(), first.mean(), daily.shape)
%leakcheck
