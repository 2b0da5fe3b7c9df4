# %% layers
import keras
import tensorflow as tf
from keras import layers

inp = keras.Input((96,))
cube = layers.Permute((2, 1))(layers.Reshape((8, 12))(inp))

# %% operations of Keras
cube = keras.ops.transpose(keras.ops.reshape(inp, (-1, 8, 12)), (0, 2, 1))

# %% in a layer of one's own
class Cube(layers.Layer):
    def call(self, x):
        return tf.reshape(x, (-1, 8, 12))

cube = Cube()(inp)

# %% in the pipeline of data
feed = tf.data.Dataset.from_tensors(tf.ones((2, 96))).map(lambda x: tf.reshape(x, (-1, 8, 12)))

# %% on real tensors
net = keras.Model(inp, cube)
total = tf.reduce_sum(net(tf.ones((2, 96))))
