# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "pandas", "sklearn"]
# thread = "scikit-learn tracker and Stack Overflow, about 2017: how to get the predictions of each fold out of GridSearchCV, a scorer object stores them, and the memory of the search rises with each candidate"
# leaked = "4 * 24_000 * (60 + 2) * 8"
# cause_cell = 6
# cause_line = "search.fit(X_tr, y_tr)"
# holder = ["scorer", "scorer.calls", "search", "calls"]
# repair = "scorer.calls.clear()"
# ///
# %% [markdown]
# # Who leaves? Churn of a phone company
# %%
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
# %%
rng = np.random.default_rng(42)
n, d = 32_000, 60
X = rng.normal(size=(n, d))
beta = rng.normal(size=d) * (rng.random(d) < 0.3)
y = (X @ beta + rng.normal(0, 2, n) > 2.5).astype(int)
y.mean()
# %%
X[rng.random(X.shape) < 0.01] = np.nan
col_med = np.nanmedian(X, axis=0)
X = np.where(np.isnan(X), col_med, X)
# %%
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=8_000, stratify=y, random_state=0)
print(X_tr.shape, X_te.shape)
# %%
class ProfitScorer:
    """What the campaign brings if the upper tenth gets a call."""

    def __init__(self, gain=80, call=6):
        self.gain, self.call = gain, call
        self.calls = []

    def __call__(self, est, X, y):
        p = est.predict_proba(X)
        self.calls.append((X, p))
        top = np.argsort(-p[:, 1])[: len(y) // 10]
        return float((y[top] * self.gain - self.call).sum() / len(top))
# %%
scorer = ProfitScorer()
pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
search = GridSearchCV(pipe, {"logisticregression__C": [0.001, 0.01, 0.1, 1.0]}, scoring=scorer, cv=StratifiedKFold(4), refit=True)
search.fit(X_tr, y_tr)
print(search.best_params_, round(search.best_score_, 2))
# %%
cv = pd.DataFrame(search.cv_results_)[["param_logisticregression__C", "mean_test_score", "std_test_score", "mean_fit_time"]]
print(cv.drop(columns="mean_fit_time").round(2).to_string(index=False))
# %%
p_te = search.predict_proba(X_te)[:, 1]
auc = roc_auc_score(y_te, p_te)
prec, rec, thr = precision_recall_curve(y_te, p_te)
print(f"AUC {auc:.3f}, precision at recall 0.5: {prec[np.abs(rec - 0.5).argmin()]:.3f}")
# %%
coef = pd.Series(search.best_estimator_[-1].coef_[0])
top = coef.abs().sort_values(ascending=False).head(8).index
print(pd.DataFrame({"fit": coef[top], "true": beta[top]}).round(2))
# %%
deciles = pd.qcut(p_te, 10, labels=False)
lift = pd.Series(y_te).groupby(deciles).mean() / y_te.mean()
lift.round(2)
# %%
order = np.argsort(-p_te)
profit = np.cumsum(y_te[order] * 80 - 6)
print("call", int(profit.argmax()) + 1, "people, profit", int(profit.max()))
