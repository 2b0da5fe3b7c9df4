# /// truth
# question = "unused"
# style = "long"
# needs = ["numpy", "pandas", "sklearn", "matplotlib"]
# thread = "Kaggle notebooks and blog posts on feature engineering, 2018 to 2021: temporary joins should be deleted as soon as their columns are taken"
# leaked = "8 * 260_000 * 5"
# cause_cell = 5
# cause_line = "m = df.merge(stats, on=\"card\", how=\"left\")"
# holder = ["m"]
# repair = "del m"
# ///
# %% [markdown]
# # Odd card payments
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
# %%
rng = np.random.default_rng(17)
n = 260_000
df = pd.DataFrame({
    "card": rng.integers(0, 6_000, n),
    "shop": rng.integers(0, 900, n),
    "amount": rng.lognormal(3, 0.8, n),
    "sec": np.sort(rng.integers(0, 90 * 86_400, n)),
})
df["odd"] = (rng.random(n) < 0.01 + 0.04 * (df.amount > 120)).astype("int64")
# %%
df.groupby("odd").amount.describe().round(1)
# %%
df["hour"] = df["sec"] // 3_600 % 24
df["night"] = ((df["hour"] < 6) | (df["hour"] > 22)).astype("int64")
stats = df.groupby("card").amount.agg(["mean", "std", "size", "max", "median"]).reset_index()
stats.head(3).round(2)
# %%
m = df.merge(stats, on="card", how="left")
df["z"] = ((m["amount"] - m["mean"]) / m["std"]).fillna(0.0)
df["rare"] = 1 / m["size"]
df["of_max"] = m["amount"] / m["max"]
# %%
shop_rate = df.groupby("shop").odd.transform("mean")
df["shop_rate"] = (shop_rate * 280 + 0.01 * 20) / 300
df["gap"] = df.groupby("card")["sec"].diff().fillna(86_400)
# %%
cols = ["amount", "night", "z", "rare", "of_max", "shop_rate", "gap"]
old = df["sec"] < 70 * 86_400
mu, sd = df.loc[old, cols].mean(), df.loc[old, cols].std()
clf = LogisticRegression(max_iter=200).fit(((df.loc[old, cols] - mu) / sd).to_numpy(), df.odd[old])
# %%
p = clf.predict_proba(((df.loc[~old, cols] - mu) / sd).to_numpy())[:, 1]
print("AUC", roc_auc_score(df.odd[~old], p))
# %%
pd.Series(clf.coef_[0], cols).sort_values().round(3)
# %%
top = np.sort(p)[::-1]
fig, ax = plt.subplots(figsize=(4, 2.5))
ax.semilogx(1 + np.arange(0, len(top), 50), top[::50])
fig.savefig("scores.png", dpi=60)
plt.close(fig)
# %%
hourly = df.groupby("hour").agg(odd=("odd", "mean"), amount=("amount", "median"))
hourly.iloc[[0, 8, 16]].round(3)
# %%
worst = df.groupby("shop").shop_rate.first().nlargest(5)
print("shops to look at:", worst.round(4).to_dict())
