# %% a method at exit: made
import atexit

import numpy as np

class Rig:
    def __init__(self, size):
        self.frames = np.zeros(size)
        atexit.register(self.flush)  # lint: XL408

    def flush(self):
        pass

# %% a method at exit: run
rig = Rig(400_000)

# %% a method at exit: deleted  # expect: XL408
del rig

# %% a finalizer that owns its object: made
import weakref

class Camera:
    def __init__(self):
        self.buffer = bytearray(3_000_000)
        weakref.finalize(self, self.close)  # lint: XL408

    def close(self):
        pass

# %% a finalizer that owns its object: used and dropped  # expect: XL408
size = len(Camera().buffer)

# %% an object among the arguments of a finalizer  # expect: XL408
class Table:
    def __init__(self, rows):
        self.rows = np.zeros((rows, 100))

def save(table, path):
    pass

table = Table(3_000)
weakref.finalize(table, save, table, "rows.npy")  # lint: XL408
table = None

# %% a partial at exit  # expect: XL408
import functools

def write(values, path):
    pass

atexit.register(functools.partial(write, np.ones(500_000), "end.npy"));
