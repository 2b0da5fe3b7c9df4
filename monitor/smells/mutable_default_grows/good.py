# %% None as the default
import dataclasses

import numpy as np

def log_scan(scan, seen=None):
    seen = [] if seen is None else seen
    seen.append(scan)
    return len(seen)

counts = [log_scan(np.ones(100_000)) for n in range(4)]

# %% a default that is only read
def blend(scan, weights=[np.ones(100_000), np.ones(100_000), np.ones(100_000)]):
    return sum((scan * weight).sum() for weight in weights)

level = blend(np.ones(100_000))

# %% a tuple
def pad(scan, sides=(np.zeros(100_000), np.zeros(100_000), np.zeros(100_000))):
    return len(scan) + len(sides)

width = pad("abc")

# %% each object's own
@dataclasses.dataclass
class Batch:
    parts: list = dataclasses.field(default_factory=list)

batch = Batch()
for n in range(4):
    batch.parts.append(np.ones(100_000))

# %% kept short
def smooth(scan, recent=[]):
    recent.append(scan)
    if len(recent) > 3:
        recent.pop(0)
    return np.mean(recent)

means = [smooth(np.ones(100_000)) for n in range(6)]

# %% handed in by the caller
def gather(scan, into=[]):
    into.append(scan)

scans = []
for n in range(4):
    gather(np.ones(100_000), scans)

# %% handed out and in use
def extend(scan, series=[]):  # lint: XL410
    series.append(scan)
    return series

for n in range(4):
    series = extend(np.ones(100_000))
