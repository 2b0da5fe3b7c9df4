# %% an array from outside
import keras
import numpy as np
import tensorflow as tf
from keras import layers

projection = np.random.rand(200, 200).astype("float32")
features = keras.Input((200,))
mixed = layers.Lambda(lambda t: keras.ops.matmul(t, projection))(features)  # lint: XL517

# %% a model, in a function with a name, from a module of its own
from tensorflow.keras.layers import Lambda

teacher = keras.Sequential([keras.Input((200,)), layers.Dense(4)])

def ask(t):
    return teacher(t)

# %% the layer in another cell, in a function
def build():
    inputs = keras.Input((200,))
    outputs = Lambda(ask)(inputs)  # lint: XL517
    return keras.Model(inputs, outputs)

net = build()

# %% a note: many steps, in a loop
halves = []
for low, high in ((0, 100), (100, 200)):
    halves.append(
        layers.Lambda(lambda t, a=low, b=high: keras.ops.sqrt(keras.ops.abs(t[:, a:b])))(features)  # lint: XL517
    )

# %% a note: a function of several statements
def normal(t):
    shifted = t - 1
    return shifted / 2

scaled = keras.layers.Lambda(normal)(features)  # lint: XL517
