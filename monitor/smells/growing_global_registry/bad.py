# %% a list of the class: defined
import numpy as np

class Probe:
    alive = []

    def __init__(self, size):
        self.trace = np.ones(size)
        Probe.alive.append(self)  # lint: XL409

# %% a list of the class: made
for size in range(4):
    probe = Probe(100_000 + size)

# %% a list of the class: still there  # expect: XL409
level = probe.trace.mean()

# %% an event bus: defined
class Bus:
    handlers = {}

    def __init__(self):
        self.window = np.ones(200_000)
        self.handlers[id(self)] = self.handle  # lint: XL409

    def handle(self, event):
        return self.window.mean() + event

    @classmethod
    def emit(cls, event):
        return [handler(event) for handler in cls.handlers.values()]

# %% an event bus: run once
Bus().emit(1);

# %% an event bus: run twice
Bus().emit(2);

# %% an event bus: run three times  # expect: XL409
Bus().emit(3);

# %% a global list: defined
import torch

sessions = []

class Session:
    def __init__(self):
        self.cache = torch.zeros(500, 600)
        sessions.append(self)  # lint: XL409

# %% a global list: once
session = Session()

# %% a global list: twice
session = Session()

# %% a global list: three times
session = Session()
print(len(sessions))

# %% a global list: four times  # expect: XL409
session = Session()
