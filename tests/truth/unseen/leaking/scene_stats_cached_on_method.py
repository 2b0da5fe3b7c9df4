# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow question of 2015: lru_cache on a method, the instances never go away, because self is part of the key"
# leaked = "23 * 700 * 700 * 4"
# cause_cell = 2
# cause_line = "self.pixels = "
# holder = ["Scene.contrast", "contrast", "Scene", "lru_cache", "cache"]
# repair = "Scene.contrast.cache_clear()"
# ///
# %%
from functools import lru_cache
import numpy as np

rng = np.random.default_rng(7)
# %%
class Scene:
    def __init__(self, day):
        self.day = day
        self.pixels = rng.random((700, 700), dtype=np.float32)

    @lru_cache(maxsize=None)
    def contrast(self, q):
        lo, hi = np.percentile(self.pixels, [q, 100 - q])
        return float(hi - lo)
# %%
per_day = {}
for day in range(24):
    scene = Scene(day)
    per_day[day] = scene.contrast(2) / scene.contrast(25)
max(per_day, key=per_day.get)
