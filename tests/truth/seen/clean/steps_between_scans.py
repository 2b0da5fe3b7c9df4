# /// truth
# question = "hides"
# style = "short"
# needs = ["numpy"]
# thread = "CPython issues on itertools.tee and its store of items; here both iterators go side by side and are done at the end"
# ///
# %%
import itertools
import numpy as np

def scans(n):
    r = np.random.default_rng(2)
    for _ in range(n):
        yield r.normal(size=(500, 400))

def steps(it):
    a, b = itertools.tee(it)
    next(b, None)
    for prev, cur in zip(a, b):
        yield float(abs(cur - prev).mean())

moved = list(steps(scans(30)))
# %%
print(len(moved), f"{max(moved):.4f}")
