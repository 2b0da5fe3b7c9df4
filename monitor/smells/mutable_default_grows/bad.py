# %% a list: defined
import numpy as np

def log_scan(scan, seen=[]):  # lint: XL410
    seen.append(scan)
    return len(seen)

# %% a list: filled  # expect: XL410
counts = [log_scan(np.ones(100_000)) for n in range(4)]

# %% a keyword of a method: defined
import torch

class Tracker:
    def note(self, value, *, by_step={}):  # lint: XL410
        by_step[(len(by_step), value.shape)] = value
        return value.mean().item()

# %% a keyword of a method: filled  # expect: XL410
means = [Tracker().note(torch.rand(200, 400)) for n in range(5)]

# %% a static method, and a default that an object takes over: defined
class Recorder:
    def __init__(self, frames=[]):
        self.frames = frames

    @staticmethod
    def crop(frame, parts=list()):  # lint: XL410
        parts.append(frame[:1])
        return frame.sum()

# %% a static method  # expect: XL410
sums = [Recorder.crop(np.ones((1, 100_000))) for n in range(4)]

# %% a default that an object takes over  # expect: XL410
for n in range(4):
    Recorder().frames.append(np.zeros(90_000))

# %% a memo by number: defined
def window(size, known={}):  # lint: XL410
    if size not in known:
        known[size] = np.hanning(size)
    return known[size].sum()

# %% a memo by number  # expect: XL410
areas = [window(100_000 + n) for n in range(4)]
