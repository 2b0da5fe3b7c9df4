# /// truth
# question = "unused"
# style = "long"
# needs = ["numpy", "pandas", "scipy", "matplotlib"]
# thread = "Look-alike of questions on large variables in a notebook: the matrix of distances is named again only within the text that the last cell prints"
# ///
# %% [markdown]
# # Which depot for which customer?
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
# %%
rng = np.random.default_rng(28)
depots = pd.DataFrame(rng.uniform(0, 60, (400, 2)), columns=["x", "y"])
people = pd.DataFrame(rng.normal(30, 12, (5_000, 2)), columns=["x", "y"])
people["parcels"] = rng.poisson(3, len(people)) + 1
# %%
km = cdist(people[["x", "y"]], depots[["x", "y"]])
people["depot"] = km.argmin(1)
people["km"] = km.min(1)
# %%
people.km.describe().round(2)
# %%
load = people.groupby("depot").parcels.sum().reindex(range(400), fill_value=0)
load.nlargest(5)
# %%
idle = load.index[load == 0]
print(len(idle), "depots without a customer")
# %%
fig, ax = plt.subplots(figsize=(3, 3))
ax.scatter(depots.x, depots.y, s=1 + load / 10)
fig.savefig("depots.png", dpi=60)
plt.close(fig)
# %%
cost = people.parcels * (1.2 + 0.35 * people.km)
by_ring = cost.groupby(pd.cut(people.km, [0, 1, 2, 4, 50])).agg(["mean", "size"])
by_ring.round(2)
# %%
half = load.sort_values(ascending=False).cumsum() < load.sum() / 2
print(int(half.sum()), "depots carry one half")
# %%
north = people.y > 30
print("north", cost[north].sum().round(), "south", cost[~north].sum().round())
# %%
open_ = np.flatnonzero(load > 0)[::2]
print(f"with every second depot: {km[:, open_].min(axis=1).mean():.2f} instead of {people.km.mean():.2f} km")
