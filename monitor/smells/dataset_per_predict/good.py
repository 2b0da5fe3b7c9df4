# %% all at once
import keras
import numpy as np
import tensorflow as tf
from keras import layers

def make_net():
    return keras.Sequential([keras.Input((3,)), layers.Dense(1)])

net = make_net()
rows = np.random.rand(9, 3).astype("float32")
answers = net.predict(rows, verbose=0)
answers = net.predict(tf.data.Dataset.from_tensor_slices(rows).batch(3), verbose=0)

# %% on tensors
for row in rows:
    answers = net(row[None], training=False).numpy()

# %% batch by batch
for row in rows:
    answers = net.predict_on_batch(row[None])

# %% another model in each iteration
for turn in range(9):
    keras.backend.clear_session()
    net = make_net()
    answers = net.predict(rows, verbose=0)

# %% a model of its own in a function that is called in a loop
def answer_of(row):
    keras.backend.clear_session()
    own = make_net()
    return own.predict(row[None], verbose=0)

answers = [answer_of(row) for row in rows]

# %% models of other libraries
class Line:
    def predict(self, x):
        return x

line = Line()
for row in rows:
    answers = line.predict(row)
