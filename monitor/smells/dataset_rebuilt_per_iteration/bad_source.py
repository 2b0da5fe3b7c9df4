# %% the source in one cell
import numpy as np
import tensorflow as tf

cubes = np.random.rand(40, 3).astype("float32")
labels = np.random.rand(40)

# %% the same pipeline in each iteration
for trial in range(10):
    feed = tf.data.Dataset.from_tensor_slices(cubes).batch(4).prefetch(8)  # lint: XL504
    batch = next(iter(feed))

# %% in a function and an inner loop, from a name of its own
from tensorflow.data import Dataset

def scores(rounds):
    found = []
    for part in range(rounds):
        for turn in range(10):
            pairs = Dataset.from_tensor_slices((cubes, labels)).batch(8)  # lint: XL504
            for x, y in pairs.take(1):
                found.append(float(y[0]) + part)
    return found

found = scores(2)

# %% a while loop in a method, inline
class Trainer:
    def __init__(self, data):
        self.data = data

    def train(self):
        turn = 0
        while turn < 10:
            for x in tf.data.Dataset.from_tensors(self.data):  # lint: XL504
                turn += 1

Trainer(cubes).train()
