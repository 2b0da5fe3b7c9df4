# %% rebound before it grows
def closed_path(points=[]):
    points = list(points)
    points.append(points[0])
    return points

# %% copied
class Pipeline:
    def __init__(self, steps=[]):
        self.steps = list(steps)

    def add(self, step):
        self.steps.append(step)

# %% only read
def weighted(scan, weights={"low": 1.0, "high": 2.0}):
    return scan * weights["low"]

# %% nothing is added to the empty default
def passed(scan, layers=[]):
    if -1 in layers:
        layers.append(len(scan))
    return [scan[layer] for layer in layers]

passed([1, 2])
