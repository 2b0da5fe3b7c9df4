# %% a metric that keeps what it was given
import numpy as np

class Accuracy:
    def __init__(self):
        self.hits, self.seen = 0, []

    def update(self, scores):
        self.hits += int(scores.argmax())
        self.seen.append(scores)

    def rows(self):
        return np.concatenate(self.seen)

# %% a metric that keeps what it was given: used
accuracy = Accuracy()
for seed in range(8):
    accuracy.update(np.random.default_rng(seed).normal(size=50_000))
print(accuracy.hits)

# %% a history for undo
history = []

def step(function):
    def wrapper(table):
        history.append((function.__name__, table.copy()))
        return function(table)
    return wrapper

def undo():
    return history.pop()[1]

@step
def scaled(table):
    return table / table.max()

@step
def centred(table):
    return table - table.mean()

# %% a history for undo: used
table = np.random.default_rng(1).normal(size=100_000)
for _ in range(3):
    table = centred(scaled(table))
print(table.std())

# %% events that wait for a flush
class Writer:
    def __init__(self):
        self.pending = {}

    def add(self, step, values):
        self.pending[step] = values

    def flush(self):
        for step, values in self.pending.items():
            print(step, values.mean())
        self.pending.clear()

# %% events that wait for a flush: used
writer = Writer()
for step in range(6):
    writer.add(step, np.random.default_rng(step).normal(size=50_000))

# %% a verdict  # expect: XL423 # expect: XL423 # expect: XL423
%leakcheck
