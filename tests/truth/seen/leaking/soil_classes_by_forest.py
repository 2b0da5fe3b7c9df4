# /// truth
# question = "unused"
# style = "long"
# needs = ["numpy", "pandas", "sklearn", "matplotlib"]
# thread = "Stack Overflow and scikit-learn questions, 2016 to 2020, on the spread of the trees of a forest: predictions of all trees at once fill the memory, and only their mean is used on"
# leaked = "8 * 50 * 9_000 * 5"
# cause_cell = 6
# cause_line = "votes = np.stack("
# holder = ["votes"]
# repair = "del votes"
# ///
# %% [markdown]
# # Soil classes from spectra
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import confusion_matrix, log_loss
# %%
X, y = make_classification(13_000, 24, n_informative=9, n_classes=5, random_state=7)
names = np.array(["clay", "loam", "peat", "sand", "silt"])
train, test = slice(0, 4_000), slice(4_000, None)
# %%
pd.Series(names[y]).value_counts(normalize=True).round(3)
# %%
forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=1, n_jobs=1).fit(X[train], y[train])
p = forest.predict_proba(X[test])
print("log loss", log_loss(y[test], p), "accuracy", (p.argmax(1) == y[test]).mean())
# %%
imp = pd.Series(forest.feature_importances_).sort_values(ascending=False)
imp.head(5).round(3)
# %% [markdown]
# Does the disagreement of the trees say where it is wrong?
# %%
votes = np.stack([tree.predict_proba(X[test]) for tree in forest.estimators_])
spread = votes.std(axis=0).max(axis=1)
wrong = p.argmax(1) != y[test]
print("spread where right", spread[~wrong].mean(), "where wrong", spread[wrong].mean())
# %% [markdown]
# Hardly more than the plain probability does, so I go on with that.
# %%
sure = p.max(1)
tab = pd.DataFrame({"sure": pd.cut(sure, [0, 0.4, 0.6, 0.8, 1.0]), "wrong": wrong})
tab.groupby("sure", observed=True).wrong.agg(["mean", "size"]).round(3)
# %%
cm = confusion_matrix(y[test], p.argmax(1), normalize="true")
pd.DataFrame(cm, names, names).round(2)
# %%
fig, ax = plt.subplots(figsize=(3, 3))
ax.imshow(cm, vmin=0, vmax=1)
ax.set_xticks(range(5), names, rotation=45)
fig.savefig("confusion.png", dpi=60)
plt.close(fig)
# %%
second = np.argsort(p, axis=1)[:, -2]
print("second guess right where the first is wrong:", (second[wrong] == y[test][wrong]).mean())
# %%
to_lab = np.argsort(sure)[:20]
print("samples for the lab:", (to_lab + 4_000).tolist())
