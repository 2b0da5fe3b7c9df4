# needs: tensorflow
# %% a variable
import numpy as np
import tensorflow as tf

table = tf.Variable(np.random.rand(20000, 30), trainable=False)

@tf.function
def look_up(ids):
    return tf.gather(table, ids)

rows = look_up(tf.constant([1, 2]))

# %% an argument
wide = np.zeros((700, 700), dtype="float32")

@tf.function
def project(x, kernel):
    return tf.matmul(x, kernel)

out = project(tf.ones((1, 700)), tf.constant(wide))

# %% a tensor from outside is an input of the graph
fixed = tf.constant(wide)

@tf.function
def shift(x):
    return x + fixed

out = shift(tf.ones((1, 700)))

# %% small ones, and filled with one number
means = np.array([0.4, 0.5, 0.6], dtype="float32")

@tf.function
def centre(x):
    return tf.subtract(x, means) + tf.reduce_sum(tf.zeros((1000, 1000)))

out = centre(tf.ones((2, 3)))

# %% eager code
def eager(ids):
    return tf.gather(tf.constant(wide), ids)

rows = eager([1, 2])
