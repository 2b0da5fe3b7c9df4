# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "fsspec"]
# thread = "Look-alike of the fsspec issues: what is staged in the memory file system is removed when it has been read"
# ///
# %%
import fsspec
import numpy as np
import pandas as pd

rng = np.random.default_rng(55)
fs = fsspec.filesystem("memory")
# %%
def track(ship, n=40_000):
    steps = rng.normal(0, 0.002, (n, 2)).cumsum(0)
    return pd.DataFrame(
        {
            "ship": np.full(n, ship),
            "lat": 54 + steps[:, 0],
            "lon": 8 + steps[:, 1],
            "knots": rng.gamma(8, 1.3, n),
        }
    )

# %%
for ship in range(6):
    with fs.open(f"/tracks/{ship}.feather", "wb") as out:
        track(ship).to_pickle(out)
print(len(fs.ls("/tracks")), "files")
# %%
def read_all():
    for path in sorted(fs.ls("/tracks", detail=False)):
        with fs.open(path, "rb") as f:
            yield pd.read_pickle(f)

ais = pd.concat(read_all(), ignore_index=True)
# %%
fs.rm("/tracks", recursive=True)
del out
# %%
ais["moved"] = np.hypot(ais.groupby("ship").lat.diff(), ais.groupby("ship").lon.diff() * 0.58) * 60
ais = ais.dropna()
# %%
print(ais.groupby("ship").moved.sum().round(1).to_dict())
# %%
box = ais[(ais.lat.between(53.9, 54.1)) & (ais.lon.between(7.9, 8.1))]
share = box.groupby("ship").size() / ais.groupby("ship").size()
share.round(3)
# %%
fast = ais.knots > ais.knots.quantile(0.99)
runs = (fast != fast.shift()).cumsum()[fast].value_counts()
print("longest fast run:", runs.max())
# %%
heat, _, _ = np.histogram2d(ais.lat, ais.lon, bins=40)
print(heat.max(), (heat > 0).mean().round(3))
