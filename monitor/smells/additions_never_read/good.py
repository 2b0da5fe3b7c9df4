# %% read later
import numpy as np

class Recorder:
    def __init__(self):
        self.rows = []

    def __call__(self, row):
        self.rows.append(row)

recorder = Recorder()
for seed in range(8):
    recorder(np.random.default_rng(seed).normal(size=50_000))

# %% read later: by a cell
print(np.concatenate(recorder.rows).std())

# %% cleared by a method
class Validation:
    def __init__(self):
        self.outputs, self.means = [], []

    def step(self, batch):
        self.outputs.append(batch * 2.0)

    def end_of_epoch(self):
        self.means.append(float(sum(it.mean() for it in self.outputs)))
        self.outputs.clear()

validation = Validation()
for epoch in range(2):
    for seed in range(4):
        validation.step(np.random.default_rng(seed).normal(size=50_000))
    validation.end_of_epoch()

# %% what one call builds
class Forest:
    def __init__(self, trees):
        self.trees, self.used = [], trees

    def fit(self, rows):
        for seed in range(self.used):
            self.trees.append(rows * seed)

    def predict(self, row):
        return sum(tree[row] for tree in self.trees)

forest = Forest(6)
forest.fit(np.ones(50_000))

# %% filled in plain sight
parts = []
for seed in range(8):
    parts.append(np.random.default_rng(seed).normal(size=50_000))

# %% all of them in use
print(recorder, forest.used, parts[0][0], validation.means)

# %% a verdict
%leakcheck
