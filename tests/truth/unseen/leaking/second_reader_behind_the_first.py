# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow question of about 2012: itertools.tee uses much memory, because one iterator runs ahead and all that the other has not read is stored"
# leaked = "60 * 125_000 * 8"
# cause_cell = 1
# cause_line = "yield np.cumsum"
# holder = ["preview", "walks", "tee", "itertools"]
# repair = "del walks, preview"
# ///
# %%
import itertools
import numpy as np

def chunks(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield np.cumsum(rng.normal(size=125_000))
# %%
walks, preview = itertools.tee(chunks(60))
first_max = next(preview).max()
# %%
drift = sum(w[-1] for w in walks)
print(first_max, drift)
