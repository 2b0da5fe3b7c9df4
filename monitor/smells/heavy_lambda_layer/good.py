# needs: tensorflow
# %% one step
import keras
import numpy as np
from keras import layers

features = keras.Input((20,))
doubled = layers.Lambda(lambda t: t * 2)(features)
wide = layers.Lambda(lambda t: keras.ops.expand_dims(t, -1))(features)

# %% a function of the library
calm = layers.Lambda(keras.activations.relu)(features)

# %% a small table
means = np.array([0.4, 0.5, 0.6], dtype="float32")
centred = layers.Lambda(lambda t: t - means[0])(features)

# %% a layer of one's own
class Project(layers.Layer):
    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.dense = layers.Dense(4)

    def call(self, t):
        return self.dense(t)

out = Project()(features)

# %% lambdas elsewhere
key = sorted([3, 1, 2], key=lambda n: -n)

# %% a large table that has a name of its own
def projected(table):
    inputs = keras.Input((600,))
    return keras.Model(inputs, layers.Lambda(lambda t: keras.ops.matmul(t, table))(inputs))

basis = np.random.rand(600, 600).astype("float32")
net = projected(basis)
