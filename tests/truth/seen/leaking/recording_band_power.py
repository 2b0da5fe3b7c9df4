# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow, 2015 and later: lru_cache on an instance's method, the instance is never released after del"
# leaked = "64 * 120_000 * 8"
# cause_cell = 1
# cause_line = "self.samples = np.random.default_rng(seed)"
# holder = ["Recording.band_power", "lru_cache", "cache"]
# repair = "Recording.band_power.cache_clear()"
# ///
# %%
from functools import lru_cache
import numpy as np

class Recording:
    def __init__(self, seed):
        self.samples = np.random.default_rng(seed).normal(size=(64, 120_000))

    @lru_cache(maxsize=32)
    def band_power(self, channel):
        return float(np.square(self.samples[channel]).mean())
# %%
rec = Recording(7)
[round(rec.band_power(c), 3) for c in range(4)]
# %%
del rec
