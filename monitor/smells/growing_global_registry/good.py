# %% held weakly
import enum
import weakref

import numpy as np

class Probe:
    alive = weakref.WeakSet()

    def __init__(self, size):
        self.trace = np.ones(size)
        Probe.alive.add(self)

for size in range(4):
    probe = Probe(100_000 + size)

# %% plugin classes: defined
class Plugin:
    known = {}

    def __init_subclass__(cls):
        cls.weights = np.ones(100_000)
        Plugin.known[cls.__name__] = cls

class Blur(Plugin): ...

class Sharpen(Plugin): ...

class Edge(Plugin): ...

# %% plugin classes: one more
class Wave(Plugin): ...

# %% a singleton: defined
class Settings:
    instances = {}

    def __new__(cls):
        if cls not in cls.instances:
            cls.instances[cls] = super().__new__(cls)
            cls.instances[cls].table = np.ones(300_000)
        return cls.instances[cls]

level = Settings().table.mean()

# %% a singleton: used
level = Settings().table.mean()

# %% members of an enumeration
class Kernel(enum.Enum):
    BOX = 1
    GAUSS = 2
    LANCZOS = 3

    def __init__(self, order):
        self.table = np.ones(order * 100_000)

kernel = Kernel.GAUSS

# %% members of an enumeration: used
level = kernel.table.mean()

# %% objects that leave again: made
class Handle:
    open_ones = []

    def __init__(self):
        self.buffer = np.ones(100_000)
        Handle.open_ones.append(self)

    def close(self):
        Handle.open_ones.remove(self)

handles = [Handle() for n in range(4)]

# %% objects that leave again: closed
for handle in handles:
    handle.close()

# %% a population: made
class Particle:
    everyone = []

    def __init__(self):
        self.track = np.ones(100_000)
        Particle.everyone.append(self)  # lint: XL409

for n in range(4):
    Particle()

# %% a population: in use
mean = np.mean([particle.track.mean() for particle in Particle.everyone])

# %% the end
count = 1
