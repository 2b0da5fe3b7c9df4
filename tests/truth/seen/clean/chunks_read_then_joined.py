# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "Stack Overflow question of 2014: a csv that is too large is read in chunks, the filtered pieces are appended to a list and joined by concat"
# ///
# %% [markdown]
# # Taxi trips at the airport
# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
# %%
def write_trips(path, n=40_000, seed=6):
    rng = np.random.default_rng(seed)
    pd.DataFrame(
        {
            "zone": rng.integers(1, 60, n),
            "km": rng.gamma(2.0, 4.0, n).round(2),
            "fare": rng.gamma(3.0, 7.0, n).round(2),
            "hour": rng.integers(0, 24, n),
            "people": rng.integers(1, 6, n),
        }
    ).to_csv(path, index=False)

path = Path("trips.csv")
write_trips(path)
path.stat().st_size // 1000
# %%
parts = []
for chunk in pd.read_csv(path, chunksize=4_000):
    chunk["per_km"] = chunk.fare / chunk.km.clip(lower=0.2)
    parts.append(chunk[chunk.zone.between(10, 50)])
len(parts)
# %%
trips = pd.concat(parts, ignore_index=True)
trips.describe().round(2)
# %%
q = trips.per_km.quantile([0.01, 0.99])
trips = trips[trips.per_km.between(*q)]
# %%
history = []
for p in parts:
    history.append((len(p), p.per_km.median()))
drift = pd.DataFrame(history, columns=["n", "median"])
print("drift over the file:", drift["median"].std().round(3))
# %%
by_hour = trips.groupby("hour").agg(n=("km", "size"), fare=("fare", "mean"), per_km=("per_km", "mean"))
by_hour.head(6).round(2)
# %%
fig, ax = plt.subplots(figsize=(5, 2.5))
ax.bar(by_hour.index, by_hour.n)
ax.twinx().plot(by_hour.index, by_hour.per_km, "k.-")
fig.savefig("hours.png", dpi=60)
plt.close(fig)
# %%
A = np.column_stack([np.ones(len(trips)), trips.km, trips.people, trips.hour])
coef, *_ = np.linalg.lstsq(A, trips.fare, rcond=None)
print(dict(zip(["const", "km", "people", "hour"], coef.round(3))))
# %%
zones = trips.groupby("zone").per_km.mean().sort_values()
print("cheap", zones.index[:3].tolist(), "dear", zones.index[-3:].tolist())
# %%
check = pd.concat(parts).fare.sum()
{"trips": len(trips), "share of fares": round(float(trips.fare.sum() / check), 3)}
