# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "pandas", "scipy", "matplotlib"]
# thread = "NumPy tracker and Stack Overflow, 2012 to 2019: np.load of npz files in a loop fills the memory, the archives stay open until somebody closes them"
# order = [1, 2, 3, 4, 5, 6, 7, 8, 6, 7, 8, 9, 10]
# leaked = "2 * 6 * 4 * 90_000 * 8"
# cause_cell = 5
# cause_line = "open_files.enter_context"
# holder = ["open_files", "ExitStack", "NpzFile"]
# repair = "open_files.close()"
# ///
# %% [markdown]
# # Small quakes: trigger on six days of four stations
# %%
import contextlib
import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.signal import butter, sosfilt
# %%
def make_day(day, n=90_000):
    rng = np.random.default_rng(100 + day)
    out = {}
    for st in ("ANNA", "BERG", "CORA", "DORN"):
        x = rng.normal(size=n)
        for t0 in rng.integers(2_000, n - 4_000, 3):
            t = np.arange(3_000)
            x[t0 : t0 + 3_000] += 9 * np.exp(-t / 500) * np.sin(t / 6)
        out[st] = x
    return out
# %%
data = Path("days")
data.mkdir(exist_ok=True)
for day in range(6):
    np.savez(data / f"d{day:02d}.npz", **make_day(day))
sorted(p.name for p in data.iterdir())
# %%
sos = butter(2, [0.05, 0.3], btype="band", output="sos")

def sta_lta(x, ns=100, nl=2_000):
    c = np.concatenate([[0.0], np.cumsum(x * x)])
    sta = (c[nl:] - c[nl - ns : -ns]) / ns
    lta = (c[nl:] - c[:-nl]) / nl
    return sta / lta
# %% [markdown]
# The share is slow, so a day is read at once; the members are taken from there.
# %%
open_files = contextlib.ExitStack()

def day_archive(day):
    path = data / f"d{day:02d}.npz"
    return open_files.enter_context(np.load(io.BytesIO(path.read_bytes())))
# %%
threshold = 6.0
picks = []
for day in range(6):
    z = day_archive(day)
    for st in z.files:
        r = sta_lta(sosfilt(sos, z[st]))
        on = np.flatnonzero((r[1:] > threshold) & (r[:-1] <= threshold))
        picks += [(day, st, int(i) + 2_000, float(r[i : i + 200].max())) for i in on]
del z, r, on
# %%
tab = pd.DataFrame(picks, columns=["day", "station", "sample", "ratio"])
tab["hour"] = tab["sample"] / 90_000 * 24
print(len(tab), "triggers")
# %%
counts = tab.pivot_table(index="day", columns="station", values="ratio", aggfunc="count", fill_value=0)
print(counts)
# %%
fig, ax = plt.subplots(figsize=(5, 2.5))
for st, g in tab.groupby("station"):
    ax.scatter(g.hour, g.day, s=g.ratio * 2, label=st)
ax.legend(fontsize=6)
fig.savefig("triggers.png", dpi=60)
plt.close(fig)
# %%
strong = tab[tab.ratio > tab.ratio.quantile(0.9)]
{"triggers": len(tab), "strong": len(strong), "median ratio": round(float(tab.ratio.median()), 2)}
