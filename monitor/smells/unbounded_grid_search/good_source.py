# %% as many as the memory has room for
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

rows = np.random.default_rng(1).random((40, 3))
kinds = (rows[:, 0] > 0.5).astype(int)

search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, n_jobs=2)

# %% the estimator alone, by threads
forest = RandomForestClassifier(n_estimators=3, n_jobs=-1).fit(rows, kinds)

# %% one after the other
scores = cross_val_score(LogisticRegression(), rows, kinds, cv=2)

# %% a limit on what waits
from joblib import Parallel, delayed

squares = Parallel(n_jobs=-1, pre_dispatch="2*n_jobs")
