# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "pandas", "sklearn", "matplotlib"]
# thread = "GitHub, pandas, 2023: attrs hold whole objects and are carried along, a table in attrs lives as long as the result"
# leaked = "900_000 * 5 * 8"
# cause_cell = 3
# cause_line = "events = pd.concat("
# holder = ["per_user.attrs", "attrs", "per_user.attrs['events']"]
# repair = "per_user.attrs.clear()"
# ///
# %%
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
# %%
def month(m, n=150_000):
    r = np.random.default_rng(m)
    return pd.DataFrame({
        "user": r.integers(0, 20_000, n), "minutes": r.exponential(11, n), "clicks": r.poisson(4, n).astype(float),
        "errors": r.poisson(.2, n).astype(float), "month": np.full(n, m),
    })
# %%
events = pd.concat([month(m) for m in range(6)], ignore_index=True)
events.head()
# %%
events.isna().sum().to_dict(), len(events)
# %% [markdown]
# One row for each user; what it was made from goes along, so that nobody mixes up the exports again.
# %%
per_user = events.groupby("user").agg(
    minutes=("minutes", "sum"), clicks=("clicks", "mean"), errors=("errors", "sum"), months=("month", "nunique"))
last = events.groupby("user")["month"].max().to_numpy()
X = per_user.to_numpy()
cols = list(per_user.columns)
# %%
per_user.attrs["events"] = events
per_user.attrs["made"] = "2024-02-11"
# %%
del events
# %%
rng = np.random.default_rng(5)
risk = -1 + .5 * (X[:, 2] - X[:, 2].mean()) / X[:, 2].std() - .4 * (last == 5)
churned = (rng.random(len(X)) < 1 / (1 + np.exp(-risk))).astype(int)
churned.mean()
# %%
Z = (X - X.mean(0)) / (X.std(0) + 1e-9)
cut = int(.8 * len(Z))
clf = LogisticRegression().fit(Z[:cut], churned[:cut])
p = clf.predict_proba(Z[cut:])[:, 1]
round(roc_auc_score(churned[cut:], p), 3)
# %%
fig, ax = plt.subplots(figsize=(4, 3))
ax.barh(cols, clf.coef_[0])
plt.close(fig)
# %%
print(per_user.attrs["made"], dict(zip(cols, clf.coef_[0].round(2))))
