# %% the object has a name
import functools

import numpy as np

class Volume:
    def __init__(self, size):
        self.voxels = np.zeros(size)

    @functools.lru_cache(maxsize=None)  # lint: XL404
    def histogram(self, bins):
        return bins * 2

scan = Volume(400_000)
doubled = scan.histogram(3)

# %% a cached property
class Lazy:
    def __init__(self):
        self.samples = np.zeros(400_000)

    @functools.cached_property
    def level(self):
        return 3.0

level = Lazy().level

# %% a cache of its own for each object
class Own:
    def __init__(self):
        self.samples = np.zeros(400_000)
        self.level = functools.lru_cache(maxsize=4)(len)

owned = Own().level("abc")

# %% a function of texts
@functools.lru_cache(maxsize=None)
def parsed(text):
    return text.split()

words = parsed("a b c")

# %% cleared in time
volume = Volume(400_000)
doubled = volume.histogram(4)
Volume.histogram.cache_clear()
del volume
