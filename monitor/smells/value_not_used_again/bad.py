# %% a raw table
import numpy as np

raw = np.random.default_rng(0).normal(size=(50_000, 8))
daily = raw.reshape(-1, 50, 8).mean(axis=1)

# %% what a loop left
for seed in range(4):
    sample = np.random.default_rng(seed).normal(size=300_000)
    largest = max(0.0, sample.max())

# %% an input that was joined
parts = [np.full(100_000, float(n)) for n in range(5)]
whole = np.concatenate(parts)

# %% a verdict  # expect: XL420 # expect: XL420 # expect: XL420
print(daily.shape, largest, whole.size)
%leakcheck
