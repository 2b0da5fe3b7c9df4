# /// truth
# question = "hides"
# style = "long"
# needs = ["numpy", "pandas", "sklearn"]
# thread = "Stack Overflow on the size of nearest neighbour models; here the fitted models answer in the last cells"
# ///
# %% [markdown]
# # Rent estimates from similar flats
# %%
import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsRegressor

AREAS = ["harbour", "hill", "centre", "garden"]
COLS = ["m2", "rooms", "floor", "age", "dist", "green"]
# %%
def listings(area, n):
    r = np.random.default_rng(10 + AREAS.index(area))
    X = pd.DataFrame(r.gamma(2.0, 1.0, (n, 6)), columns=COLS)
    return X, 500 + 280 * X["m2"] - 30 * X["age"] + r.normal(0, 40, n)
# %%
models, quality = {}, {}
for area in AREAS:
    X, rent = listings(area, 40_000)
    knn = KNeighborsRegressor(15, algorithm="kd_tree").fit(X.to_numpy(), rent.to_numpy())
    Xt, rt = listings(area, 200)
    models[area] = knn
    quality[area] = float((knn.predict(Xt.to_numpy()) - rt).abs().mean())
del X, rent, knn
# %%
pd.Series(quality).round(1)
# %%
r = np.random.default_rng(99)
offers = pd.DataFrame(r.gamma(2.0, 1.0, (300, 6)), columns=COLS)
offers["area"] = r.choice(AREAS, 300)
offers["ask"] = 500 + 300 * offers["m2"] - 20 * offers["age"] + r.normal(0, 150, 300)
# %%
offers["area"].value_counts()
# %%
parts = []
for area, part in offers.groupby("area"):
    parts.append(part.assign(estimate=models[area].predict(part[COLS].to_numpy())))
offers = pd.concat(parts)
# %%
offers["over"] = offers["ask"] / offers["estimate"] - 1
offers.groupby("area")["over"].median().round(3)
# %%
cheap = offers.nsmallest(5, "over")
cheap[["area", "ask", "estimate"]].round(0)
# %%
row = cheap.iloc[0]
dist, idx = models[row["area"]].kneighbors(row[COLS].to_numpy(float)[None], 3)
print(dist.round(2), idx.shape)
# %%
what_if = pd.DataFrame([row[COLS]] * 5).assign(m2=np.arange(1, 6)).astype(float)
print(models["hill"].predict(what_if.to_numpy()).round(0))
# %%
print(f"{(offers['over'] > 0.2).mean():.0%} of {len(offers)} offers are a fifth too dear")
