# %% a finalizer with what it needs
import atexit
import weakref

import numpy as np

def flush_file(path):
    pass

class Rig:
    def __init__(self, path):
        self.frames = np.zeros(400_000)
        self.finalizer = weakref.finalize(self, flush_file, path)

rig = Rig("frames.npy")
del rig

# %% a finalizer of an object in use
camera = Rig("camera.npy")
weakref.finalize(camera, camera.frames.sum)

# %% a method at exit, and the object in use
class Store:
    def __init__(self):
        self.rows = np.zeros(400_000)

    def close(self):
        pass

store = Store()
atexit.register(store.close)

# %% a method at exit, taken back in time
class Probe(Store):
    def __init__(self):
        super().__init__()
        atexit.register(self.close)

    def stop(self):
        atexit.unregister(self.close)

probe = Probe()
probe.stop()
del probe

# %% a pool is ended at exit
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(2)
atexit.register(pool.shutdown)
lengths = list(pool.map(len, ["a", "bc"]))

# %% a plain function
@atexit.register
def say_goodbye():
    pass

# %% a handler of a signal
import signal

class Meter(Store):
    pass

meter = Meter()
signal.signal(signal.SIGUSR2, meter.close)
del meter

# %% the end
count = len(lengths)
