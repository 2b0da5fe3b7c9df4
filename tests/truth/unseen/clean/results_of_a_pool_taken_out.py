# /// truth
# question = "hides"
# style = "long"
# needs = ["numpy", "pandas"]
# thread = "Stack Overflow on futures that keep their results, 2016 and later; written as the answers say, futures are dropped as they complete"
# ///
# %% [markdown]
# # Noise maps from hourly recordings
# %%
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np
import pandas as pd
# %%
HOURS = range(24)
def recording(h):
    r = np.random.default_rng(h)
    return r.normal(0, 1 + 3 * np.exp(-((h - 14) ** 2) / 18), (200, 120, 60)).astype("f4")
# %%
def level(h):
    x = recording(h)
    return h, np.sqrt((x**2).mean(axis=2))
# %%
maps = np.zeros((24, 200, 120), dtype="f4")
with ThreadPoolExecutor(2) as ex:
    futs = {ex.submit(level, h) for h in HOURS}
    for f in as_completed(list(futs)):
        futs.discard(f)
        h, m = f.result()
        maps[h] = m
del f, m
# %%
print(len(futs), "open,", maps.shape)
# %%
by_hour = pd.Series(maps.mean(axis=(1, 2)), index=HOURS)
by_hour.nlargest(4).round(2)
# %%
night = maps[[23, 0, 1, 2, 3, 4]].mean(axis=0)
day = maps[7:19].mean(axis=0)
# %%
ratio = day / night
print(ratio.min().round(2), ratio.max().round(2))
# %%
rows, cols = np.unravel_index(ratio.argsort(axis=None)[-3:], ratio.shape)
list(zip(rows.tolist(), cols.tolist()))
# %%
db = 20 * np.log10(maps + 1e-6)
limit = np.percentile(db, 95)
# %%
over = (db > limit).sum(axis=0)
pd.Series(over.ravel()).describe().round(1)
# %%
print(f"95% limit {limit:.1f} dB, loudest hour {by_hour.idxmax()}, {int((over > 0).sum())} cells above it")
