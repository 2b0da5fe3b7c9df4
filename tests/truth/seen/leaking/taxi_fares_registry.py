# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "pandas", "sklearn"]
# thread = "Stack Overflow, 2017: a table that was deleted lives on as the default argument of a lambda in a dictionary of features"
# leaked = "1400 * 1400 * 2 * 8"
# cause_cell = 4
# cause_line = "return np.stack("
# holder = ["FEATURES", "FEATURES['airline']", "lambda", "__defaults__"]
# repair = "del FEATURES['airline']"
# ///
# %%
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split
rs = np.random.RandomState(8)
# %%
n = 30_000
trips = pd.DataFrame({
    "pu": rs.randint(0, 1400, n), "do": rs.randint(0, 1400, n),
    "hour": rs.randint(0, 24, n), "pax": rs.randint(1, 6, n)})
zones = rs.rand(1400, 2) * 30
trips.head(3)
# %%
FEATURES = {}
def feature(name, fn):
    FEATURES[name] = fn
# %%
def pairs(xy):
    dx = xy[:, None, 0] - xy[None, :, 0]
    dy = xy[:, None, 1] - xy[None, :, 1]
    return np.stack([np.hypot(dx, dy), np.arctan2(dy, dx)], axis=-1)
# %%
air = pairs(zones)
feature("airline", lambda d, t=air: t[d["pu"], d["do"], 0])
feature("rush", lambda d: d["hour"].isin([7, 8, 17, 18]).astype(float))
feature("night", lambda d: (d["hour"] < 5).astype(float))
# %%
trips["fare"] = 3 + 1.9 * air[trips["pu"], trips["do"], 0] + 2 * FEATURES["rush"](trips) + rs.randn(n)
trips["fare"].describe()
# %%
# two coordinates do the same as the table of pairs
del air
feature("blocks", lambda d: np.abs(zones[d["pu"]] - zones[d["do"]]).sum(1))
feature("east", lambda d: zones[d["do"], 0] - zones[d["pu"], 0])
# %%
use = ["blocks", "east", "rush", "night"]
X = np.column_stack([FEATURES[k](trips) for k in use])
a, b, ya, yb = train_test_split(X, trips["fare"].to_numpy(), random_state=1)
# %%
gbm = HistGradientBoostingRegressor(max_iter=40).fit(a, ya)
gbm.score(b, yb)
# %%
err = np.abs(gbm.predict(b) - yb)
pd.Series(err).quantile([.5, .9, .99])
# %%
print("MAE", err.mean().round(3), "with", ", ".join(use))
