# %% a search on all cores
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

rows = np.random.default_rng(1).random((40, 3))
kinds = (rows[:, 0] > 0.5).astype(int)
search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, n_jobs=-1)  # lint: XL520
search.fit(rows, kinds)

# %% something else
print(search.best_params_)

# %% still something else  # expect: XL520
print(search.best_score_)

# %% a function that scores
def score(model):
    return cross_val_score(model, rows, kinds, cv=2, n_jobs=-1).mean()  # lint: XL520

# %% is called
mean = score(LogisticRegression())

# %% its result
print(mean)

# %% its result again  # expect: XL520
print(round(mean, 3))

# %% tasks of one's own, in an object
from joblib import Parallel, delayed

class Sweep:
    def __init__(self):
        self.run = Parallel(n_jobs=-1)  # lint: XL520

    def squares(self, count):
        return self.run(delayed(pow)(number, 2) for number in range(count))

sweep = Sweep()
squares = sweep.squares(8)

# %% a look at them
print(squares[-1])

# %% another look  # expect: XL520
print(sum(squares))
