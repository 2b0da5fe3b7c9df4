# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy", "sklearn"]
# thread = "GitHub, scikit-learn, 2017: cross_validate can hand back the estimators; a forum of 2021 on results that grow because fitted neighbours carry their training rows"
# leaked = "5 * 12_000 * 4 // 5 * 200 * 8 + 5 * 12_000 * 4 // 5 * 8"
# cause_cell = 2
# cause_line = "cross_validate("
# holder = ["scores", "scores['estimator']", "KNeighborsClassifier", "_fit_X"]
# repair = "del scores['estimator']"
# ///
# %%
import gc, numpy as np
from sklearn.model_selection import cross_validate
from sklearn.neighbors import KNeighborsClassifier
X = np.random.default_rng(1).normal(size=(12_000, 200)); y = (X[:, 0] > 0).astype(int)
# %%
knn = KNeighborsClassifier(3, algorithm="brute")
scores = cross_validate(knn, X, y, cv=5, scoring=lambda est, a, b: est.score(a[:200], b[:200]), return_estimator=True)
# %%
del knn, X, y
gc.collect()
print("acc", scores["test_score"].mean())
