# %% made once
import numpy as np
import tensorflow as tf

cubes = np.random.rand(40, 3).astype("float32")
feed = iter(tf.data.Dataset.from_tensor_slices(cubes).repeat().batch(4).prefetch(2))
for trial in range(10):
    batch = next(feed)

# %% one for each shard
shards = np.split(cubes, 10)
for shard in shards:
    feed = tf.data.Dataset.from_tensor_slices(shard).batch(4)

# %% splits of a cross-validation
for fold in range(10):
    rows = np.arange(40) % 10 != fold
    train = tf.data.Dataset.from_tensor_slices(cubes[rows]).batch(4)

# %% another size in each iteration
for size in range(1, 11):
    feed = tf.data.Dataset.from_tensor_slices(cubes).batch(size)

# %% shuffled again
for epoch in range(10):
    feed = tf.data.Dataset.from_tensor_slices(cubes).shuffle(40).batch(4)

# %% fresh data
for epoch in range(10):
    feed = tf.data.Dataset.from_tensor_slices(np.random.rand(40, 3))

# %% a few literal numbers
for epoch in range(10):
    feed = tf.data.Dataset.from_tensor_slices([1, 2, 3])
