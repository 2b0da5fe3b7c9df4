# /// truth
# question = "hides"
# style = "long"
# needs = ["numpy", "pandas", "sklearn", "matplotlib"]
# thread = "scikit-learn issues and Stack Overflow on the size of nearest neighbour models, 2014 to 2018: a fitted model is its training data"
# leaked = "5 * 100_000 * (8 + 1) * 8"
# cause_cell = 4
# cause_line = "knn = KNeighborsRegressor("
# holder = ["knn_fits"]
# repair = "for f in knn_fits: del f['knn']"
# ///
# %% [markdown]
# # Which district's rents can be predicted from the listing?
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsRegressor

DISTRICTS = ["north", "east", "south", "west", "old town"]
COLS = ["m2", "rooms", "floor", "age", "dist", "noise", "green", "lift"]
# %%
def listings(district, n=100_000):
    r = np.random.default_rng(DISTRICTS.index(district))
    X = pd.DataFrame(r.gamma(2.0, 1.0, (n, 8)), columns=COLS)
    rent = 400 + 310 * X["m2"] - 40 * X["age"] + r.normal(0, 30 * (1 + DISTRICTS.index(district)), n)
    return X, rent
# %%
X, rent = listings("north", 2000)
print(X.shape, rent.describe().round(0)["mean"])
X.corrwith(rent).round(2)
# %%
knn_fits = []
for d in DISTRICTS:
    X, rent = listings(d)
    knn = KNeighborsRegressor(9, algorithm="brute").fit(X.to_numpy(), np.log(rent.to_numpy() + 4000))
    Xt, rt = listings(d, 60)
    err = np.exp(knn.predict(Xt.to_numpy())) - 4000 - rt
    knn_fits.append({"district": d, "knn": knn, "mae": err.abs().mean(), "bias": err.mean()})
del X, rent, knn
# %%
res = pd.DataFrame([{k: f[k] for k in ("district", "mae", "bias")} for f in knn_fits]).set_index("district")
res.round(1)
# %%
fig, ax = plt.subplots(figsize=(4, 3))
res["mae"].plot.bar(ax=ax)
fig.savefig("mae.png")
plt.close(fig)
# %%
base = pd.Series({d: (lambda r: (r - r.median()).abs().mean())(listings(d, 5000)[1]) for d in DISTRICTS})
res["skill"] = 1 - res["mae"] / base
# %%
res["skill"].sort_values(ascending=False).round(3)
# %%
usable = res[res["skill"] > 0.2].index.tolist()
print("usable:", usable)
# %%
print(f"mean error {res['mae'].mean():.0f}, worst {res['mae'].idxmax()}, {len(usable)} of {len(res)} districts")
