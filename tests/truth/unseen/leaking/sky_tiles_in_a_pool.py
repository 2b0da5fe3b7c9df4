# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "scipy", "matplotlib"]
# thread = "GitHub, cpython, 2022: shutting a ThreadPoolExecutor down does not give memory back; the futures that one still has carry their results"
# leaked = "24 * 480 * 480 * 8"
# cause_cell = 4
# cause_line = "return i, gaussian_filter("
# holder = ["jobs", "futures", "Future", "jobs[0].result()"]
# repair = "jobs.clear(); del fut"
# ///
# %%
from concurrent.futures import ThreadPoolExecutor, as_completed
import gc
import numpy as np
import matplotlib.pyplot as plt
from scipy.ndimage import gaussian_filter, label, center_of_mass
# %%
ROWS, COLS, SIDE = 4, 6, 480
def exposure(seed):
    r = np.random.default_rng(seed)
    sky = r.normal(100, 3, (SIDE, SIDE))
    for y, x, f in zip(r.integers(8, SIDE - 8, 30), r.integers(8, SIDE - 8, 30), r.exponential(400, 30)):
        sky[y - 2:y + 3, x - 2:x + 3] += f / 25
    return sky.astype(np.float32)
# %%
tiles = [exposure(s) for s in range(ROWS * COLS)]
print(len(tiles), tiles[0].dtype)
# %%
def background(i, tile):
    return i, gaussian_filter(tile.astype(float), 24, truncate=2.0)
# %%
pool = ThreadPoolExecutor(2)
jobs = [pool.submit(background, i, t) for i, t in enumerate(tiles)]
level = np.zeros(len(tiles))
stars = {}
for fut in as_completed(jobs):
    i, bg = fut.result()
    level[i] = bg.mean()
    mask = tiles[i] - bg > 12
    marks, n = label(mask)
    stars[i] = np.array(center_of_mass(mask, marks, range(1, n + 1)))
# %%
pool.shutdown()
del bg, mask, marks, tiles
gc.collect()
# %%
counts = np.array([len(stars[i]) for i in range(ROWS * COLS)]).reshape(ROWS, COLS)
counts
# %%
sky = np.concatenate([stars[i] + np.array([i // COLS, i % COLS]) * SIDE for i in range(ROWS * COLS)])
sky.shape
# %%
fig, ax = plt.subplots()
ax.scatter(sky[:, 1], sky[:, 0], s=2)
fig.savefig("sky.png")
plt.close(fig)
# %%
d = np.sort(np.linalg.norm(sky[:200, None] - sky[None, :200], axis=-1), axis=1)[:, 1]
d.mean().round(1)
# %%
print("background", level.mean().round(2), "stars", counts.sum())
