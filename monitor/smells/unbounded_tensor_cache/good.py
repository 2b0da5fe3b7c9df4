# %% with a bound: defined
import functools
import weakref

import numpy as np

@functools.lru_cache(maxsize=2)
def features(path):
    return np.ones(200_000)

level = features("a").mean()

# %% with a bound: once
level = features("b").mean()

# %% with a bound: twice
level = features("c").mean()

# %% with a bound: three times
level = features("d").mean()

# %% of texts and numbers
@functools.lru_cache(maxsize=None)
def length(text):
    return len(text)

total = sum(length(str(n)) for n in range(1_000))

# %% a table by length: made
tables = {}

def table(length):
    if length not in tables:
        tables[length] = np.ones((length, 1_000))
    return tables[length]

level = sum(table(n).mean() for n in (128, 256))

# %% a table by length: used
level = sum(table(n).mean() for n in (128, 256, 512))

# %% a table by length: used again
level = sum(table(n).mean() for n in (128, 256, 512))

# %% a table by length: and again
level = sum(table(n).mean() for n in (128, 256, 512)) + np.ones(200_000).mean()

# %% that drops its oldest: defined
recent_cache = {}

def recent(path):
    if len(recent_cache) > 8:
        recent_cache.pop(next(iter(recent_cache)))
    recent_cache[path] = np.ones(200_000)
    return recent_cache[path]

level = recent("a").mean()

# %% that drops its oldest: once
level = recent("b").mean()

# %% that drops its oldest: twice
level = recent("c").mean()

# %% that drops its oldest: three times
level = recent("d").mean()

# %% that hits: defined
@functools.cache
def window(size):
    return np.hanning(size)

level = sum(window(100_000 + n % 4).sum() for n in range(100))

# %% that hits: used
level = sum(window(100_000 + n % 4).sum() for n in range(100))

# %% held weakly
class Volume:
    def __init__(self):
        self.voxels = np.ones(200_000)

volumes = weakref.WeakValueDictionary()

def volume(path):
    made = volumes.get(path) or Volume()
    volumes[path] = made
    return made

levels = [volume(path).voxels.mean() for path in "abc"]
