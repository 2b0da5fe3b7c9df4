# %% one after the other; Keras 3 refuses
import keras
import tensorflow as tf
from keras import layers

inp = keras.Input((96,))
try:
    cube = tf.transpose(tf.reshape(inp, (-1, 8, 12)), (0, 2, 1))  # lint: XL518
except ValueError as refusal:
    cube = layers.Reshape((12, 8))(inp)

# %% on the output of a layer, in a function
def head(size):
    pixels = keras.layers.Input((size,))
    wide = layers.Dense(8)(pixels)
    try:
        longer = tf.expand_dims(wide, -1)  # lint: XL518
    except ValueError as refusal:
        longer = layers.Reshape((8, 1))(wide)
    return keras.Model(pixels, longer)

net = head(4)

# %% from a name of its own, in a list
from tensorflow import concat

left = layers.Dense(4)(inp)
right = layers.Dense(4)(inp)
try:
    both = concat([left, right], -1)  # lint: XL518
except ValueError as refusal:
    both = layers.Concatenate()([left, right])
