# /// truth
# question = "unused"
# style = "long"
# needs = ["pyarrow", "numpy", "pandas", "matplotlib"]
# thread = "Spark and Arrow pull requests, 2019 to 2021: after to_pandas both the table and the frame hold the data, memory is doubled until the table is given up"
# leaked = "8 * 350_000 * 5"
# cause_cell = 4
# cause_line = "tbl = feather.read_table("
# holder = ["tbl"]
# repair = "del tbl"
# ///
# %% [markdown]
# # Bike trips: when do the short ones happen?
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather
# %%
def make_trips(n=350_000, seed=12):
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 30 * 86_400, n))
    return {
        "start": start,
        "station": rng.integers(0, 300, n),
        "bike": rng.integers(0, 4_000, n),
        "minutes": rng.gamma(1.6, 9.0, n),
        "km": rng.gamma(2.0, 1.4, n),
    }
# %%
feather.write_feather(pa.table(make_trips()), "trips.arrow", compression="uncompressed", chunksize=350_000)
# %%
tbl = feather.read_table("trips.arrow", memory_map=False)
print(tbl.num_rows, "rows,", tbl.nbytes // 10**6, "MB")
tbl.schema
# %%
df = tbl.to_pandas()
df.describe().loc[["mean", "min", "max"]].round(1)
# %%
df = df[df.minutes.between(1, 180) & (df.km > 0.1)]
df["hour"] = df.start % 86_400 // 3_600
df["speed"] = df.km / df.minutes * 60
# %%
short = df[df.minutes < 10]
by_hour = short.groupby("hour").size() / df.groupby("hour").size()
by_hour.round(3).head(8)
# %%
fig, ax = plt.subplots(figsize=(4, 2.5))
ax.bar(by_hour.index, by_hour)
fig.savefig("short.png", dpi=60)
plt.close(fig)
# %%
stations = df.groupby("station").agg(n=("km", "size"), speed=("speed", "median"))
stations.sort_values("n").tail(4)
# %%
busy = df.bike.value_counts()
print("busiest bike", busy.index[0], "with", int(busy.iloc[0]), "trips; median", busy.median())
# %%
week = df.start // 86_400 % 7
print(df.groupby(week).km.sum().round(0).to_dict())
# %%
print(f"{len(short) / len(df):.1%} below ten minutes, {short.speed.median():.1f} against {df.speed.median():.1f} km/h")
