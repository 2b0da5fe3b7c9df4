# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "pandas", "tqdm", "matplotlib"]
# thread = "GitHub, tqdm and napari, 2021 and 2022: the bar of a finished loop keeps the iterable that it was given"
# leaked = "10 * 250_000 * 3 * 8"
# cause_cell = 2
# cause_line = "return pd.DataFrame("
# holder = ["pbar", "pbar.iterable", "tqdm"]
# repair = "del pbar"
# ///
# %% [markdown]
# # Bike counters, ten stations
# %%
import gc
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
from tqdm import tqdm

rng = np.random.default_rng(2019)
# %%
def read_station(i):
    """The export has one row for each 5 seconds with traffic."""
    n = 250_000
    sec = np.sort(rng.integers(0, 365 * 86_400, n))
    speed = rng.gamma(9, 2.1 + i / 20, n)
    lane = rng.integers(0, 2, n).astype(float)
    return pd.DataFrame({"sec": sec, "speed": speed, "lane": lane})
# %%
stations = [read_station(i) for i in range(10)]
len(stations), stations[0].shape
# %%
stations[3].describe().round(1)
# %%
def hourly(d):
    h = (d["sec"] // 3600) % 24
    return d.groupby(h)["speed"].agg(["size", "mean"])
# %%
profiles = []
pbar = tqdm(stations, desc="stations")
for st in pbar:
    prof = hourly(st[st["speed"] < 60])
    pbar.set_postfix(rows=len(st))
    profiles.append(prof)
# %%
# raw rows not needed from here
del stations, st
gc.collect()
# %%
load = pd.DataFrame({i: p["size"] for i, p in enumerate(profiles)})
pace = pd.DataFrame({i: p["mean"] for i, p in enumerate(profiles)})
load.shape
# %%
fig, ax = plt.subplots(figsize=(5, 3))
load.mean(axis=1).plot(ax=ax, drawstyle="steps-mid")
ax.set_xlabel("hour"); ax.set_ylabel("bikes")
plt.close(fig)
# %%
ranking = pace.mean().sort_values(ascending=False)
ranking.head(3)
# %%
print(f"busiest hour {load.mean(axis=1).idxmax()}, fastest station {ranking.index[0]}")
