# needs: tensorflow
# %% made once
import numpy as np
import tensorflow as tf

cubes = np.random.rand(1 << 17)
feed = iter(tf.data.Dataset.from_tensor_slices(cubes).repeat().batch(4).prefetch(2))
for trial in range(10):
    batch = next(feed)

# %% many pipelines of one source
source = tf.data.Dataset.from_tensor_slices(cubes)
views = [source.shuffle(16, seed=number).batch(4) for number in range(6)]

# %% many sources of one tensor
tensor = tf.constant(cubes)
shared = [tf.data.Dataset.from_tensor_slices(tensor) for number in range(6)]

# %% one for each shard
shards = np.split(np.random.rand(1 << 20), 4)
parts = [tf.data.Dataset.from_tensor_slices(shard) for shard in shards]

# %% one to train with and one to look at
train = tf.data.Dataset.from_tensor_slices(labels := np.arange(1 << 18)).shuffle(64)
look = tf.data.Dataset.from_tensor_slices(labels)

# %% made again in each iteration, and dropped
for trial in range(6):
    feed = tf.data.Dataset.from_tensor_slices(cubes).batch(4).prefetch(2)
    batch = next(iter(feed))

# %% small ones
tiny = [tf.data.Dataset.from_tensor_slices(np.arange(100)) for number in range(20)]
