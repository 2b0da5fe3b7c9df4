# /// truth
# question = "hides"
# style = "short"
# needs = ["numpy"]
# thread = "flask-executor issue of 2019 and CPython threads: memory is not given back while the futures are referenced, they keep their results"
# leaked = "10 * 1200 * 1600 * 3"
# cause_cell = 1
# cause_line = "integers(0, 255"
# holder = ["futs"]
# repair = "futs.clear()"
# ///
# %%
from concurrent.futures import ThreadPoolExecutor
import numpy as np

def render(seed):
    return np.random.default_rng(seed).integers(0, 255, size=(1200, 1600, 3), dtype=np.uint8)

with ThreadPoolExecutor(2) as ex:
    futs = {ex.submit(render, s): s for s in range(10)}
bright = {s: float(f.result().mean()) for f, s in futs.items()}
# %%
max(bright, key=bright.get)
