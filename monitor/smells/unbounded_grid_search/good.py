# %% as many as the memory has room for
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

rows = np.random.default_rng(1).random((40, 3))
kinds = (rows[:, 0] > 0.5).astype(int)
search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, n_jobs=2)
search.fit(rows, kinds)

# %% as many as the memory has room for: later
print(search.best_params_)

# %% as many as the memory has room for: later still
print(search.best_score_)

# %% the estimator alone, by threads
forest = RandomForestClassifier(n_estimators=3, n_jobs=-1).fit(rows, kinds)

# %% the estimator alone: later
print(forest.score(rows, kinds))

# %% the estimator alone: later still
print(forest.n_classes_)

# %% one after the other
scores = cross_val_score(LogisticRegression(), rows, kinds, cv=2)

# %% one after the other: later
print(scores.mean())

# %% a limit on what waits
from joblib import Parallel, delayed

squares = Parallel(n_jobs=-1, pre_dispatch="2*n_jobs")(delayed(pow)(n, 2) for n in range(4))

# %% a limit on what waits: later
print(squares)

# %% a limit on what waits: later still
print(len(squares))

# %% threads of joblib
cubes = Parallel(n_jobs=3, prefer="threads")(delayed(pow)(n, 3) for n in range(4))

# %% threads of joblib: later
print(cubes)

# %% threads of joblib: later still
print(len(cubes))

# %% workers that are ended
import joblib.externals.loky as loky

loky.get_reusable_executor().shutdown(wait=True)
all_cores = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, n_jobs=-1)  # lint: XL520
all_cores.fit(rows, kinds)
loky.get_reusable_executor().shutdown(wait=True)

# %% workers that are ended: later
print(all_cores.best_params_)

# %% workers that are ended: later still
print(all_cores.best_score_)

# %% a search that goes on in every other cell: begun
scores = cross_val_score(LogisticRegression(), rows, kinds, cv=2, n_jobs=-1)  # lint: XL520

# %% a search that goes on in every other cell: looked at
print(scores)

# %% a search that goes on in every other cell: more
scores = cross_val_score(LogisticRegression(C=2), rows, kinds, cv=2, n_jobs=-1)  # lint: XL520

# %% a search that goes on in every other cell: looked at
print(scores)
