# %% timers that are cancelled
import asyncio

import numpy as np

def save(level):
    return level.sum()

timers = [
    asyncio.get_running_loop().call_later(3600, save, np.full(200_000, float(step)))
    for step in range(9)
]
for timer in timers:
    timer.cancel()
del timer, timers

# %% a cache that is cleared
import urllib.parse

sizes = [len(urllib.parse.urlsplit("data:,".ljust(500_000 + size, "A")).path) for size in range(6)]
urllib.parse.clear_cache()

# %% a name leads there
level = np.full(2_000_000, 1.0)
asyncio.get_running_loop().call_later(3600, save, level)

# %% a class of the notebook's own
class Station:
    seen = {}

    def __init__(self, number):
        Station.seen[number] = np.full(300_000, float(number))

for number in range(6):
    Station(number)

# %% a thread at work
import threading

gate = threading.Event()

def work(parts):
    gate.wait()
    return sum(part.sum() for part in parts)

threading.Thread(target=work, args=([np.ones(300_000) for _ in range(6)],)).start()

# %% a thread at work: the end
print(len(sizes), level.size, len(Station.seen))
gate.set()

# %% a loader that fetches ahead: read to its end
from queue import Queue

def fetch(parts, queue):
    for part in parts:
        queue.put(part)
    queue.put(None)

queue = Queue(4)
threading.Thread(target=fetch, args=((np.full(300_000, float(at)) for at in range(12)), queue), daemon=True).start()
total = sum(queue.get().sum() for _ in range(12))
end = queue.get()

# %% a loader that fetches ahead: a verdict
print(total, level.size, len(Station.seen))

# %% a loader that fetches ahead: asked for
%leakcheck
