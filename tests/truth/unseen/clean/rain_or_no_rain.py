# /// truth
# question = "unused"
# style = "long"
# needs = ["numpy", "pandas", "sklearn", "matplotlib"]
# thread = "Look-alike of questions on lists of large variables: the parts of the data are named once, later cells reach them by the keys of a dictionary"
# ///
# %% [markdown]
# # Rain tomorrow?
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import brier_score_loss
# %%
rng = np.random.default_rng(40)
n, p = 30_000, 48
field = rng.normal(size=(n, p))
field[1:] += 0.7 * field[:-1]
rain = (field[:, :6].sum(1) + np.abs(field[:, 7]) * 2 + rng.normal(0, 2, n) > 2.5).astype(int)
# %%
X_old, y_old = field[:18_000] - field[:18_000].mean(0), rain[:18_000]
X_mid, y_mid = field[18_000:24_000] - field[:18_000].mean(0), rain[18_000:24_000]
X_new, y_new = field[24_000:] - field[:18_000].mean(0), rain[24_000:]
parts = {"old": (X_old, y_old), "mid": (X_mid, y_mid), "new": (X_new, y_new)}
del field
# %%
{k: (len(v[1]), round(float(v[1].mean()), 3)) for k, v in parts.items()}
# %%
def brier(model):
    return {k: brier_score_loss(b, model.predict_proba(a)[:, 1]) for k, (a, b) in parts.items()}
# %%
lin = SGDClassifier(loss="log_loss", alpha=1e-3, max_iter=20, tol=None, random_state=0).fit(*parts["old"])
scores = {"linear": brier(lin)}
# %%
few = slice(0, 18_000, 3)
trees = RandomForestClassifier(15, min_samples_leaf=40, random_state=0).fit(*(a[few] for a in parts["old"]))
scores["trees"] = brier(trees)
# %%
pd.DataFrame(scores).round(4)
# %%
prob = trees.predict_proba(parts["mid"][0])[:, 1]
cal = pd.DataFrame({"p": prob, "y": parts["mid"][1]}).groupby(pd.cut(prob, 6), observed=True).mean()
cal.round(3)
# %%
fig, ax = plt.subplots(figsize=(3, 3))
ax.plot(cal.p, cal.y, "o-")
fig.savefig("calibration.png", dpi=60)
plt.close(fig)
# %%
weights = pd.Series(lin.coef_[0]).abs().nlargest(6)
print("strongest columns", weights.index.tolist())
# %%
for k, (a, b) in parts.items():
    print(k, "right", (trees.predict(a) == b).mean().round(4), "linear", (lin.predict(a) == b).mean().round(4))
