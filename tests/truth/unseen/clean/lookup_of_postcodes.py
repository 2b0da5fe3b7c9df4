# /// truth
# question = "hides"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow on closures and the memory of what they capture; here the captured table is what the function is for"
# ///
# %%
import numpy as np

def make_lookup(n):
    r = np.random.default_rng(9)
    codes = np.sort(r.integers(0, 10**9, n))
    where = r.normal(50, 3, (n, 2))
    def lookup(code):
        return where[np.searchsorted(codes, code)]
    return lookup

locate = make_lookup(700_000)
# %%
a, b = locate(12_345_678), locate(900_000_000)
print(np.hypot(*(a - b)).round(3))
# %%
pts = np.array([locate(c) for c in range(0, 10**9, 10**7)])
pts.mean(axis=0).round(2)
