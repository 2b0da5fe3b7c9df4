# %% a pool that hands out results
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

def render(view):
    return np.full((300, 300), float(view))

with ThreadPoolExecutor(2) as pool:
    brightest = max(picture.max() for picture in pool.map(render, range(6)))

# %% not yet read: submitted
pool = ThreadPoolExecutor(2)  # lint: XL413
later = [pool.submit(render, view) for view in range(6)]

# %% not yet read: waited for
from concurrent.futures import wait

finished, _ = wait(later)
del finished

# %% not yet read: something else
print(brightest)

# %% read, and the pictures are in use
pictures = [job.result() for job in later]

# %% read, and the pictures are still in use
print(len(pictures))

# %% cleared
later.clear()
del pictures

# %% popped as they are read
jobs = {pool.submit(render, view): view for view in range(6)}
sums = []
for job in as_completed(list(jobs)):
    jobs.pop(job)
    sums.append(job.result().sum())
del job

# %% awaited, and no task is kept
import asyncio

async def fetch(size):
    return bytearray(size)

bodies = await asyncio.gather(*[fetch(700_000) for number in range(4)])

# %% small results
counts = [pool.submit(len, "abc") for number in range(1000)]  # lint: XL413
total = sum(count.result() for count in counts)

# %% the end
print(total, len(bodies), sums)

# %% some are still to come: submitted
import threading

gate = threading.Event()
mixed = [pool.submit(render, view) for view in range(6)] + [pool.submit(gate.wait)]
brightest = max(job.result().max() for job in mixed[:6])

# %% some are still to come
print(brightest)

# %% some are still to come: the end
gate.set()
del mixed

# %% submitted where others are read
first = [pool.submit(render, 1)]
waiting = [pool.submit(render, view) for view in range(4)]
print(first[0].result().max())

# %% submitted where others are read: later
print("ready")

# %% submitted where others are read: the end
del waiting
