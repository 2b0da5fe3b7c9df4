# /// truth
# question = "hides"
# style = "short"
# needs = ["numpy"]
# thread = "numpy issues on parts of arrays that keep the whole (2017 to 2021); here the parts are the whole and both are read"
# ///
# %%
import numpy as np

def load(n=40_000):
    r = np.random.default_rng(3)
    X = r.normal(size=(n, 60))
    return X[: n * 4 // 5], X[n * 4 // 5 :]

train, test = load()
# %%
mu, sd = train.mean(axis=0), train.std(axis=0)
# %%
z = (test - mu) / sd
print(abs(z).max().round(2), (train.max(axis=0) > test.max(axis=0)).sum())
