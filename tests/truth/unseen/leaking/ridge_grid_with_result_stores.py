# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "sklearn"]
# thread = "jiminy and devlib issues of 2023 and 2024: atexit.register with a bound method keeps every object until the process ends"
# leaked = "6 * (10 + 1) * 30000 * 8"
# cause_cell = 6
# cause_line = "self.folds = np.full((repeats, n), np.nan)"
# holder = ["atexit", "atexit.register", "ResultStore.flush", "ResultStore"]
# repair = "import atexit, gc\nfor s in [o for o in gc.get_objects() if type(o) is ResultStore]:\n    atexit.unregister(s.flush)\ndel s"
# ///
# %%
import atexit
import json

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(17)
# %%
n = 30_000
X = pd.DataFrame(rng.normal(size=(n, 20)), columns=[f"x{i}" for i in range(20)])
X["x3"] = X.x3 * 0.2 + X.x4 * 0.8
y = 2 * X.x0 - X.x4 + 0.5 * X.x7 * X.x8 + rng.normal(0, 1, n)
# %%
X.corr().abs().stack().loc[lambda s: (s > 0.3) & (s < 1)]
# %%
X["x78"] = X.x7 * X.x8
Xs = StandardScaler().fit_transform(X)
print(Xs.shape, Xs.std(0).round(2).min())
# %%
cv = list(KFold(5, shuffle=True, random_state=1).split(Xs))
print([len(te) for _, te in cv])
# %%
class ResultStore:
    """out-of-fold predictions of one setting, written when the session ends"""

    def __init__(self, name, n, repeats):
        self.name = name
        self.folds = np.full((repeats, n), np.nan)
        self.at = np.arange(n)
        atexit.register(self.flush)

    def put(self, i, idx, pred):
        self.folds[i, self.at[idx]] = pred

    def flush(self):
        with open(f"{self.name}.json", "w") as f:
            json.dump({"name": self.name, "mean": float(np.nanmean(self.folds))}, f)


# %%
def run(alpha, repeats=10):
    store = ResultStore(f"ridge_{alpha}", n, repeats)
    err = []
    for r in range(repeats):
        noise = np.random.default_rng(r).normal(0, 0.01, Xs.shape[1])
        for tr, te in cv:
            m = Ridge(alpha).fit(Xs[tr] + noise, y.iloc[tr])
            store.put(r, te, m.predict(Xs[te]))
        err.append(mean_squared_error(y, store.folds[r]))
    return np.mean(err), np.std(err)


# %%
alphas = [0.1, 1, 10, 100, 1000, 10_000]
scores = {a: run(a) for a in alphas}
# %%
tab = pd.DataFrame(scores, index=["mse", "sd"]).T
tab.round(4)
# %%
best = tab.mse.idxmin()
final = Ridge(best).fit(Xs, y)
print(best, final.coef_.round(2)[:5])
# %%
resid = y - final.predict(Xs)
print("skew %.3f, kurtosis %.3f" % (resid.skew(), resid.kurtosis()))
