# %% timers of the event loop: set
import asyncio

import numpy as np

def save(level):
    return level.sum()

for step in range(9):
    asyncio.get_running_loop().call_later(3600, save, np.full(200_000, float(step)))

# %% timers of the event loop: still there  # expect: XL421
small = 1

# %% a cache of the standard library: filled
from urllib.parse import urlsplit

sizes = [len(urlsplit("data:image/png;base64," + "A" * (500_000 + size)).path) for size in range(6)]

# %% a cache of the standard library: still there  # expect: XL421
print(len(sizes))

# %% callbacks of IPython: registered
def watched(frame):
    before = frame.copy()
    rows = [frame * factor for factor in range(3)]
    get_ipython().events.register("post_run_cell", lambda result: before.size + len(rows))

watched(np.ones(200_000))

# %% callbacks of IPython: still there  # expect: XL421
print("done")

# %% classes in a registry: registered
import copyreg

def make_reader(number):
    table = np.full(300_000, float(number))

    class Reader:
        def total(self):
            return table.sum()

    copyreg.pickle(Reader, lambda reader: (make_reader, (number,)))
    return Reader().total()

totals = [make_reader(number) for number in range(6)]

# %% classes in a registry: still there  # expect: XL421
print(sum(totals))

# %% a loader that fetches ahead: left early
import threading
from queue import Queue

class Ahead(threading.Thread):
    def __init__(self, parts):
        super().__init__(daemon=True)
        self.parts, self.queue = parts, Queue(4)
        self.start()

    def run(self):
        for part in self.parts:
            self.queue.put(part)
        self.queue.put(None)

    def __iter__(self):
        while (part := self.queue.get()) is not None:
            yield part

for number, part in enumerate(Ahead(np.full(300_000, float(at)) for at in range(40))):
    if number == 3:
        break
del part

# %% a loader that fetches ahead: a verdict
print(number)

# %% a loader that fetches ahead: asked for  # expect: XL421
%leakcheck
