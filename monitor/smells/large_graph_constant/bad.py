# needs: tensorflow
# %% a constant in a compiled function  # expect: XL515
import numpy as np
import tensorflow as tf

table = np.random.rand(20000, 30).astype("float32")

@tf.function
def look_up(ids):
    return tf.gather(tf.constant(table), ids)  # lint: XL515

rows = look_up(tf.constant([1, 2]))

# %% an array
weights = np.zeros((700, 700), dtype="float32")

# %% as an operand, of two traces, compiled by a call  # expect: XL515
def project(x):
    return tf.linalg.matmul(x, weights)  # lint: XL515

fast = tf.function(project)
outs = [fast(tf.ones((rows, 700))) for rows in (1, 2)]

# %% in a loop of the graph, of an object's method
class Filter:
    def __init__(self, size):
        self.kernel = np.ones((size, size), dtype="float32")

    @tf.function
    def apply(self, x):
        for turn in tf.range(3):
            x = tf.matmul(x, tf.convert_to_tensor(self.kernel))
        return x

smooth = Filter(600)

# %% that is called in a cell of its own  # expect: XL515
out = smooth.apply(tf.ones((1, 600)))
