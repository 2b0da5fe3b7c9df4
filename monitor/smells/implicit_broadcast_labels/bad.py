# needs: tensorflow
# %% a model with one output
import keras
import numpy as np
import tensorflow as tf
from keras import layers

net = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.Dense(1)])
features = np.random.rand(30, 3).astype("float32")
wages = np.random.rand(30).astype("float32")

# %% the mean error, step by step
guess = net(features, training=False)
off = tf.abs(guess - wages)  # lint: XL510
print(tf.reduce_mean(off))

# %% in one expression, from a name of its own, on predictions
from tensorflow import reduce_sum, square

line = keras.models.Sequential()
line.add(layers.Dense(1))
total = reduce_sum(square(wages - line.predict(features, verbose=0)))  # lint: XL510

# %% a functional model, in a method
class Judge:
    def __init__(self):
        inp = keras.Input((3,))
        self.model = keras.Model(inp, layers.Dense(1)(inp))

    def error(self):
        answer = self.model(features)
        truth = tf.ones(30)
        return tf.reduce_mean(tf.math.squared_difference(answer, truth))  # lint: XL510

error = Judge().error()

# %% a note: the label by its name
def error_of(model, x, y_test):
    return np.mean((net.predict(x, verbose=0) - y_test) ** 2)  # lint: XL510

error = error_of(net, features, wages)

# %% what a large batch makes
many = np.random.rand(1200, 3).astype("float32")
costs = np.random.rand(1200).astype("float32")
column = net(many)

# %% a column and a vector, by an operator  # expect: XL510
gap = tf.abs(column - costs)  # lint: XL510
fault = tf.reduce_mean(gap)

# %% by a function, and squared later  # expect: XL510
labels = tf.random.uniform([2500])
answers = net(tf.random.uniform([2500, 3]))
apart = tf.math.squared_difference(labels, answers)  # lint: XL510
fault = tf.reduce_sum(apart) / 2

# %% by NumPy's own numbers on one side, in a loop's last iteration  # expect: XL510
known = np.random.rand(3600).astype("float32")
guessed = tf.constant(np.random.rand(3600, 1).astype("float32"))
for turn in range(2):
    off = guessed - known
    fault = tf.reduce_mean(tf.square(off))
