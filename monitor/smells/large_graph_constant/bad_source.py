# %% a constant in a compiled function
import numpy as np
import tensorflow as tf

table = np.random.rand(2000, 30).astype("float32")

@tf.function
def look_up(ids):
    return tf.gather(tf.constant(table), ids)  # lint: XL515

rows = look_up(tf.constant([1, 2]))

# %% the array in another cell, as an operand
weights = np.zeros((300, 300), dtype="float32")

# %% compiled by a call, from a name of its own
from tensorflow import linalg
from tensorflow import function as compiled

def project(x):
    return linalg.matmul(x, weights)  # lint: XL515

fast = compiled(project)
out = fast(tf.ones((1, 300)))

# %% in a layer of Keras
import keras

class Fixed(keras.layers.Layer):
    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.kernel = np.ones((200, 200), dtype="float32")

    def call(self, x):
        kernel = tf.convert_to_tensor(self.kernel)  # lint: XL515
        return tf.matmul(x, kernel)

out = Fixed()(tf.ones((1, 200)))

# %% drawn by a generator
rng = np.random.default_rng(0)
drawn = rng.random((300, 200)).astype("float32")

@tf.function
def masked(x):
    return tf.multiply(x, drawn)  # lint: XL515

out = masked(tf.ones((300, 200)))
