# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "scipy", "pandas", "matplotlib"]
# thread = "Look-alike of NumPy issues of 2021 and 2023 on shared memory and arrays in it: no array looks into the block any more, it is closed and unlinked"
# ///
# %% [markdown]
# # Cells on the plates
# %%
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import ndimage
# %%
SHAPE = (900, 1200)
NBYTES = 4 * SHAPE[0] * SHAPE[1]


def expose(k, out):
    r = np.random.default_rng(k)
    out[:] = r.normal(10, 1, SHAPE)
    for y, x in r.integers(10, np.array(SHAPE) - 10, (80 + 10 * k, 2)):
        out[y - 4 : y + 5, x - 4 : x + 5] += 9
# %%
def load(k):
    block = shared_memory.SharedMemory(create=True, size=NBYTES)
    out = np.ndarray(SHAPE, dtype="f4", buffer=block.buf)
    expose(k, out)
    del out
    return block
# %%
def count(name):
    block = shared_memory.SharedMemory(name=name)
    img = np.ndarray(SHAPE, dtype="f4", buffer=block.buf)
    lab, n = ndimage.label(img > 15)
    area = np.bincount(lab.ravel())[1:]
    del img, lab
    block.close()
    return n, float(area.mean())
# %%
blocks = [load(k) for k in range(5)]
with ThreadPoolExecutor(2) as pool:
    counted = list(pool.map(count, [b.name for b in blocks]))
# %%
for b in blocks:
    b.close()
    b.unlink()
del b
blocks.clear()
# %%
tab = pd.DataFrame(counted, columns=["cells", "area"])
tab["set"] = 80 + 10 * tab.index
tab.round(2)
# %%
merged = 1 - tab.cells / tab["set"]
print("lost by touching", merged.round(3).tolist())
# %%
fig, ax = plt.subplots(figsize=(3, 2))
ax.plot(tab["set"], tab.cells, "o-")
fig.savefig("cells.png", dpi=60)
plt.close(fig)
# %%
slope, base = np.polyfit(tab["set"], tab.cells, 1)
print(f"{slope:.3f} found for each one more, {base:.1f} at none")
# %%
print("area of one cell", (tab.area * tab.cells / tab["set"]).mean().round(2), "of", 81)
