# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy", "PIL"]
# thread = "blog posts and Stack Overflow, about 2020: lru_cache with a maxsize as the cure for a map viewer whose tile cache grew"
# ///
# %%
from functools import lru_cache
import numpy as np
from PIL import Image
# %%
@lru_cache(maxsize=16)
def tile(z, x, y):
    rng = np.random.default_rng(z * 10_000 + x * 100 + y)
    im = Image.fromarray(rng.integers(0, 255, (256, 256, 3), dtype=np.uint8))
    return np.asarray(im.resize((512, 512)))
# %%
def pan(z, steps):
    return [tile(z, s // 3, s % 3).mean() for s in range(steps)]

greys = pan(4, 60) + pan(5, 60)
# %%
print(tile.cache_info(), np.mean(greys))
