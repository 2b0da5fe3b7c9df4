# %% a framework in each process
from scikeras.wrappers import KerasRegressor
from sklearn.model_selection import RandomizedSearchCV

hunt = RandomizedSearchCV(KerasRegressor(build_net), space, n_iter=60, n_jobs=-1)  # lint: XL520

# %% by a name, in a pipeline
import sklearn.model_selection as ms
from skorch import NeuralNetClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

def tune(grid):
    model = make_pipeline(StandardScaler(), NeuralNetClassifier(module, device="cuda"))
    return ms.GridSearchCV(model, grid, n_jobs=-2)  # lint: XL520

# %% what one core can do as well
from joblib import Parallel, delayed
from sklearn.linear_model import Ridge

parts = Parallel(n_jobs=-1)(delayed(load)(path) for path in paths)  # lint: XL520
scores = ms.cross_val_score(Ridge(), rows, target, n_jobs=-1)  # lint: XL520

# %% both take all cores
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

rows = np.random.default_rng(1).random((40, 3))
kinds = (rows[:, 0] > 0.5).astype(int)

forest = RandomForestClassifier(n_estimators=3, n_jobs=-1)
search = GridSearchCV(forest, {"max_depth": [1, 2]}, cv=2, n_jobs=-1)  # lint: XL520
