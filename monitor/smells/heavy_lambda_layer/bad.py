# needs: tensorflow
# %% a table of a function, in its model  # expect: XL517
import keras
import numpy as np
import tensorflow as tf
from keras import layers

def projected():
    table = np.random.rand(600, 600).astype("float32")
    features = keras.Input((600,))
    mixed = layers.Lambda(lambda t: keras.ops.matmul(t, table))(features)  # lint: XL517
    return keras.Model(features, mixed)

net = projected()

# %% a tensor as a default value, in a list of models  # expect: XL517
def shifted(inputs):
    shift = tf.random.uniform((600, 600))
    return layers.Lambda(lambda t, by=shift: t + by[0])(inputs)

models = []
pictures = keras.Input((600,))
models.append(keras.Model(pictures, shifted(pictures)))

# %% a layer with weights that the model does not know  # expect: XL517
class Pipeline:
    def __init__(self):
        dense = layers.Dense(600)
        dense.build((None, 600))

        def ask(t):
            return dense(t)

        self.head = keras.Sequential([keras.Input((600,)), layers.Lambda(ask)])  # lint: XL517

pipeline = Pipeline()

# %% one table for the layers of a loop  # expect: XL517
def bands():
    table = np.random.rand(600, 600).astype("float32")
    features = keras.Input((600,))
    halves = []
    for low, high in ((0, 300), (300, 600)):
        halves.append(
            layers.Lambda(lambda t, a=low, b=high: keras.ops.matmul(t[:, a:b], table[a:b]))(features)  # lint: XL517
        )
    return keras.Model(features, layers.Add()(halves))

banded = bands()
