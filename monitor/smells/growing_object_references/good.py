# %% results that the cells collect: the first
import collections
import weakref

import numpy as np

def render(size):
    return np.ones(size)

results = []
for size in range(3):
    results.append(render(200_000 + size))

# %% results that the cells collect: more
for size in range(3):
    results.append(render(210_000 + size))

# %% results that the cells collect: still more
for size in range(3):
    results.append(render(220_000 + size))

# %% results that the cells collect: the last
for size in range(3):
    results.append(render(230_000 + size))

# %% emptied in another cell: filled
pending = []

def produce():
    pending.append(np.ones(200_000))

produce()

# %% emptied in another cell: once
produce()

# %% emptied in another cell: twice
produce()

# %% emptied in another cell: three times
produce()
level = sum(pending.pop().mean() for n in range(3))

# %% held weakly: defined
class Scan:
    def __init__(self):
        self.voxels = np.ones(200_000)

scans = weakref.WeakSet()

def scan():
    made = Scan()
    scans.add(made)
    return made

kept = scan()

# %% held weakly: once
kept = scan()

# %% held weakly: twice
kept = scan()

# %% held weakly: three times
kept = scan()

# %% with a bound: defined
latest = collections.deque(maxlen=4)

def follow():
    latest.append(np.ones(200_000))

follow()

# %% with a bound: once
follow()

# %% with a bound: twice
follow()

# %% with a bound: three times
follow()

# %% records that another cell reads: defined
records = []

def trial(rate):
    records.append((rate, np.ones(200_000)))  # lint: XL105

trial(0.1)

# %% records that another cell reads: once
trial(0.2)

# %% records that another cell reads: twice
trial(0.3)
best = max(record.mean() for rate, record in records)

# %% records that another cell reads: three times
trial(0.4)

# %% a data set that loads itself: defined
class Images:
    def __init__(self):
        self.pixels = []

    def load(self, count):
        for n in range(count):
            self.pixels.append(np.ones(100_000))

images = Images()

# %% a data set that loads itself: loaded
images.load(20)

# %% a data set that loads itself: looked at
count = len(images.pixels)
