# needs: tensorflow
# %% squeezed
import keras
import numpy as np
import tensorflow as tf
from keras import layers

net = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
features = np.random.rand(30, 3).astype("float32")
wages = np.random.rand(30).astype("float32")
guess = tf.squeeze(net(features, training=False), -1)
error = tf.reduce_mean(tf.abs(guess - wages))

# %% the label as a column
truth = wages[:, None]
error = tf.reduce_mean(tf.square(net(features) - truth))

# %% one column of the answer
error = np.mean(net.predict(features, verbose=0)[:, 0] - wages)

# %% losses of Keras
net.compile("adam", "mae")
error = net.evaluate(features, wages, verbose=0)
error = keras.losses.MeanAbsoluteError()(wages[:, None], net(features))

# %% pairs on purpose: one mean for each row
error = tf.reduce_mean(tf.abs(net(features) - wages), 1)

# %% two models
other = keras.Sequential([layers.Dense(1)])
error = tf.reduce_mean(net(features) - other(features))

# %% large ones, squeezed
many = np.random.rand(1200, 3).astype("float32")
costs = np.random.rand(1200).astype("float32")
flat = tf.squeeze(net(many), -1)
gap = tf.abs(flat - costs)
error = tf.reduce_mean(gap)

# %% all pairs, and each row used
column = net(many)
pairs = tf.abs(column - costs)
nearest = tf.reduce_min(pairs, 1)

# %% a column of their own
upright = tf.reshape(costs, (-1, 1))
apart = upright - tf.constant(costs)
error = tf.reduce_mean(apart)
