# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "pandas", "sklearn", "matplotlib"]
# thread = "Stack Overflow, 2019: the training table deleted after fit; a neighbours model needs its rows and is asked again later"
# ///
# %%
import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
# %%
rng = np.random.default_rng(12)
N = 60_000
homes = pd.DataFrame(rng.normal(size=(N, 20)), columns=[f"f{i}" for i in range(20)])
homes["area"] = rng.gamma(8, 14, N)
homes["year"] = rng.integers(1900, 2022, N)
homes["price"] = 2.4 * homes["area"] + .3 * (homes["year"] - 1900) + 20 * homes["f0"] + rng.normal(0, 9, N)
# %%
homes.loc[rng.choice(N, 900, replace=False), "area"] = np.nan
homes["area"].isna().mean()
# %%
homes = homes[homes["price"].notna() & (homes["price"] > 0)]
test = homes.sample(500, random_state=0)
train = homes.drop(test.index)
len(train)
# %%
knn = make_pipeline(SimpleImputer(), StandardScaler(), KNeighborsRegressor(12, algorithm="brute"))
knn = knn.fit(train.drop(columns="price"), train["price"])
# %%
del homes, train
# %%
pred = knn.predict(test.drop(columns="price"))
err = np.abs(pred - test["price"])
err.describe().round(1)
# %%
by_age = err.groupby(pd.cut(test["year"], [1899, 1945, 1980, 2021]), observed=True).mean()
by_age.round(1)
# %%
import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(4, 4))
ax.plot(test["price"], pred, ".", ms=2)
fig.savefig("knn.png"); plt.close(fig)
# %%
mine = test.drop(columns="price").iloc[[7]].assign(area=[85., ])
dist, rows = knn[-1].kneighbors(knn[:-1].transform(mine))
dist.mean().round(3)
# %%
print(f"price about {knn.predict(mine)[0]:.0f}, mean error {err.mean():.1f}")
