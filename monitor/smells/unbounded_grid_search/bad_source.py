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
