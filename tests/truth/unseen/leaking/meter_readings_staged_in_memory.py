# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "fsspec", "matplotlib"]
# thread = "fsspec pull request of 2022 and issue of 2025 on the memory file system: one store for all, a leak where files are not deleted after use"
# leaked = "14 * (128 + 96 * 2500 * 8)"
# cause_cell = 4
# cause_line = "np.save(f, block.to_numpy())"
# holder = ["fsspec.implementations.memory.MemoryFileSystem.store", "fsspec.filesystem('memory').store", "MemoryFileSystem", "MemoryFile", "fsspec"]
# repair = "import fsspec; fsspec.filesystem('memory').rm('/stage', recursive=True)"
# ///
# %% [markdown]
# # Household meters, two weeks
# quarter-hour readings, one file a day, then a profile per cluster
# %%
import fsspec
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(2024)
N_METERS, N_DAYS = 2500, 14
# %%
quarter = np.arange(96)
base = 0.2 + 0.3 * np.exp(-((quarter - 30) ** 2) / 60) + 0.6 * np.exp(-((quarter - 78) ** 2) / 90)
kind = rng.choice(3, N_METERS, p=[0.5, 0.3, 0.2])
scale = np.array([1.0, 1.7, 0.6])[kind]


def read_day(d):
    x = base[:, None] * scale * rng.lognormal(0, 0.25, (96, N_METERS))
    x[rng.random(x.shape) < 0.003] = np.nan
    return pd.DataFrame(x, index=pd.date_range(f"2024-03-{d + 1:02d}", periods=96, freq="15min"))


# %%
day0 = read_day(0)
print(day0.shape, "missing:", int(day0.isna().sum().sum()))
# %%
# one file a day, as the real export has it
for d in range(N_DAYS):
    block = read_day(d).interpolate(limit_direction="both")
    with fsspec.open(f"memory://stage/day{d:02d}.npy", "wb") as f:
        np.save(f, block.to_numpy())
# %%
profile = np.zeros((96, N_METERS))
peaks = []
for path in sorted(fsspec.filesystem("memory").ls("/stage", detail=False)):
    with fsspec.open("memory:/" + path, "rb") as f:
        arr = np.load(f)
    profile += arr / N_DAYS
    peaks.append(arr.sum(1).argmax())
del arr, block, f
# %%
norm = profile / profile.sum(0)
load = profile.sum(0)
print("daily kWh per meter: %.2f +- %.2f" % (load.mean(), load.std()))
# %%
# poor man's k-means on the level, the shapes are all alike
centers = np.quantile(load, [0.1, 0.5, 0.9])
for _ in range(20):
    lab = np.abs(load[:, None] - centers).argmin(1)
    centers = np.array([load[lab == k].mean() for k in range(3)])
print(pd.Series(lab).value_counts().sort_index().to_dict())
# %%
agree = pd.crosstab(kind, lab)
agree
# %%
fig, ax = plt.subplots(figsize=(5, 3))
for k in range(3):
    ax.plot(quarter / 4, profile[:, lab == k].mean(1), label=f"cluster {k}")
ax.set_xlabel("hour")
ax.legend()
plt.close(fig)
# %%
summary = pd.DataFrame({"n": np.bincount(lab), "kWh": centers.round(2), "peak quarter": np.bincount(peaks).argmax()})
print(summary)
