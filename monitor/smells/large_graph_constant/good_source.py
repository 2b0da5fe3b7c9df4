# %% a variable
import numpy as np
import tensorflow as tf

table = tf.Variable(np.random.rand(2000, 30), trainable=False)

@tf.function
def look_up(ids):
    return tf.gather(table, ids)

rows = look_up(tf.constant([1, 2]))

# %% an argument
wide = np.zeros((300, 300), dtype="float32")

@tf.function
def project(x, kernel):
    return tf.matmul(x, kernel)

out = project(tf.ones((1, 300)), tf.constant(wide))

# %% small ones
half = 0.5
means = np.array([0.4, 0.5, 0.6], dtype="float32")
zeros = np.zeros(10, dtype="float32")

@tf.function
def centre(x):
    return tf.subtract(x, means) * tf.constant(half) + tf.reduce_sum(zeros)

out = centre(tf.ones((2, 3)))

# %% eager code
def eager(ids):
    return tf.gather(tf.constant(wide), ids)

rows = eager([1, 2])

# %% few numbers of a generator
few = np.random.default_rng(0).random((3, 3))

@tf.function
def turned(x):
    return tf.matmul(x, few)

out = turned(tf.ones((2, 3)))
