# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy"]
# thread = "Answer in an ophyd pull request of 2020: the callback of weakref.finalize may not close over self; a static function with the path is fine"
# ///
# %%
import os
import tempfile
import weakref

import numpy as np


class Scratch:
    def __init__(self, shape):
        fd, self.path = tempfile.mkstemp(suffix=".raw")
        os.close(fd)
        self.data = np.full(shape, 1.5)
        self._fin = weakref.finalize(self, self._unlink, self.path)

    @staticmethod
    def _unlink(path):
        os.unlink(path)


# %%
sums = []
for k in range(1, 6):
    s = Scratch((k * 300, 2000))
    s.data.tofile(s.path)
    sums.append(os.path.getsize(s.path))
    del s
# %%
print(sums)
