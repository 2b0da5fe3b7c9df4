# needs: tensorflow
# %% a pipeline in its own batches
import keras
import numpy as np
import tensorflow as tf
from keras import layers

net = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
net.compile("adam", "mse")
rows = np.random.rand(8, 3)
net.fit(tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(4), verbose=0)

# %% many rows of a table
def table_net():
    made = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    made.compile("adam", "mse")
    return made

table_net().fit(rows, rows[:, :1], batch_size=8192, verbose=0)

# %% pictures in small batches
def picture_net():
    scan = keras.Input((8, 8, 1))
    return keras.Model(scan, layers.Conv2D(1, 3)(scan))

eye = picture_net()
scans = np.random.rand(4, 8, 8, 1)
out = eye.predict(scans, batch_size=32, verbose=0)

# %% the size is set elsewhere
size = 2048
out = eye.predict(scans, batch_size=size, verbose=0)

# %% steps at once
net.compile("adam", "mse", steps_per_execution=4)
net.fit(rows, rows[:, :1], batch_size=2, verbose=0)

# %% what did not fit was no batch  # raises
huge = tf.zeros([1 << 30, 1 << 20])
