# %% both take all cores
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

rows = np.random.default_rng(1).random((40, 3))
kinds = (rows[:, 0] > 0.5).astype(int)

forest = RandomForestClassifier(n_estimators=3, n_jobs=-1)
search = GridSearchCV(forest, {"max_depth": [1, 2]}, cv=2, n_jobs=-1)  # lint: XL520
