# %% a list of futures: read and deleted
from concurrent.futures import ThreadPoolExecutor

import numpy as np

pool = ThreadPoolExecutor(2)  # lint: XL413

def render(view):
    return np.full((300, 300), float(view))

jobs = [pool.submit(render, view) for view in range(6)]  # lint: XL413
pictures = [job.result() for job in jobs]
brightest = max(picture.max() for picture in pictures)
del pictures

# %% a list of futures: still there  # expect: XL413
print(brightest)

# %% a dictionary with futures as keys: consumed
from concurrent.futures import as_completed

views_of = {pool.submit(render, view): view for view in range(5)}  # lint: XL413
sums = {}
for job in as_completed(views_of):
    sums[views_of[job]] = float(job.result().sum())
del job

# %% a dictionary with futures as keys: still there  # expect: XL413
print(sorted(sums))

# %% tasks of the event loop: awaited
import asyncio

async def fetch(size):
    await asyncio.sleep(0)
    return bytearray(size)

downloads = [asyncio.create_task(fetch(700_000)) for number in range(4)]  # lint: XL413
sizes = [len(body) for body in await asyncio.gather(*downloads)]

# %% tasks of the event loop: still there  # expect: XL413
print(sum(sizes))

# %% a single future: read
preview = pool.submit(render, 20)
smallest = preview.result().min() + pool.submit(np.zeros, 200_000).result().min()
scan = pool.submit(np.ones, 400_000)
mean = scan.result().mean()

# %% a single future: still there  # expect: XL413
print(smallest, mean)

# %% results of a pool of processes' kind: read
from multiprocessing.pool import ThreadPool

workers = ThreadPool(2)  # lint: XL413
parts = {name: workers.apply_async(np.ones, (300_000,)) for name in ("left", "right")}  # lint: XL413
total = sum(part.get().sum() for part in parts.values())

# %% results of a pool of processes' kind: still there  # expect: XL413
print(total)
