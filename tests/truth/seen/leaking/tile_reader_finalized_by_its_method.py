# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy"]
# thread = "httomo pull request of 2024: readers and writers never collected because weakref.finalize was given a bound method of the object itself"
# leaked = "5 * 24 * 512 * 512"
# cause_cell = 1
# cause_line = "self.tiles = rng.integers("
# holder = ["weakref.finalize", "finalize._registry", "finalize", "TileReader.close"]
# repair = "import gc\nfor r in [o for o in gc.get_objects() if isinstance(o, TileReader)]:\n    r.close()"
# ///
# %%
import weakref

import numpy as np

rng = np.random.default_rng(7)


class TileReader:
    def __init__(self, scene):
        self.scene = scene
        self.tiles = rng.integers(0, 255, (24, 512, 512), dtype=np.uint8)
        self._fin = weakref.finalize(self, self.close)

    def close(self):
        self.tiles = None


# %%
brightness = {}
for scene in ["S2A_0412", "S2A_0419", "S2A_0426", "S2B_0503", "S2B_0510"]:
    reader = TileReader(scene)
    brightness[scene] = reader.tiles.mean()
del reader
# %%
print(max(brightness, key=brightness.get))
