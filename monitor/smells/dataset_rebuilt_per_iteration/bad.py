# needs: tensorflow
# %% a pipeline for each iteration, all of them kept  # expect: XL504
import numpy as np
import tensorflow as tf

cubes = np.random.rand(1 << 17)
feeds = []
for trial in range(10):
    feeds.append(tf.data.Dataset.from_tensor_slices(cubes).batch(4).prefetch(2))

# %% an object that makes its own
labels = np.arange(1 << 18)

class Trial:
    def __init__(self, rows):
        self.feed = tf.data.Dataset.from_tensor_slices((rows, rows + 1)).batch(8)
        self.batches = iter(self.feed)

# %% four of them  # expect: XL504
trials = {number: Trial(labels) for number in range(4)}

# %% the same table in three iterators  # expect: XL504
table = np.random.rand(400, 400)
first = iter(tf.data.Dataset.from_tensors(table).repeat())
second = iter(tf.data.Dataset.from_tensors(table).repeat())
third = iter(tf.data.Dataset.from_tensors(table.copy()).repeat())
