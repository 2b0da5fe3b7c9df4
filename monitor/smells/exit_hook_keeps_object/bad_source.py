# %% by a lambda, and by another name of the function
from atexit import register as at_exit

import numpy as np

class Recorder:
    def __init__(self, size):
        self.frames = np.zeros(size)
        at_exit(lambda: self.save("end.npy"))  # lint: XL408

# %% by a partial, without data
import atexit
from functools import partial

class Link:
    def connect(self):
        atexit.register(partial(self.close, timeout=3))  # lint: XL408

    def close(self, timeout):
        pass

# %% a finalizer by its module
import weakref as weak

def watched(camera):
    weak.finalize(camera, lambda: camera.close())  # lint: XL408
