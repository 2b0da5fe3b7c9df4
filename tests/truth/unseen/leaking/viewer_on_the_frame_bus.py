# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow and GitHub issues on publish/subscribe packages, 2015 to 2020: bound methods in the bus keep replaced listeners alive"
# leaked = "300 * 256 * 256"
# cause_cell = 3
# cause_line = "self.stack = np.zeros"
# holder = ["bus", "bus.handlers", "handlers"]
# repair = "del bus.handlers['tick'][:-1]"
# ///
# %%
from collections import defaultdict
import numpy as np
# %%
class Bus:
    def __init__(self): self.handlers = defaultdict(list)
    def on(self, name, fn): self.handlers[name].append(fn)
    def emit(self, name, *a): return [fn(*a) for fn in self.handlers[name]]
# %%
class Viewer:
    def __init__(self, bus, n):
        self.stack = np.zeros((n, 256, 256), dtype=np.uint8); bus.on("tick", self.show)
    def show(self, i): return int(self.stack[i].sum())
# %%
bus = Bus(); viewer = Viewer(bus, 300); bus.emit("tick", 3)
# %%
viewer = Viewer(bus, 20)
bus.emit("tick", 4)
