# %% a pipeline has its batches already
import keras
import numpy as np
import tensorflow as tf
from keras import layers

net = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
net.compile("adam", "mse")
rows = np.random.rand(8, 3)
feed = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(4)

# %% in another cell
history = net.fit(feed, epochs=1, batch_size=2048, verbose=0)  # lint: XL514

# %% the size first, in a function, from a name of its own
from tensorflow.data import Dataset

def judge(model, data):
    pairs = Dataset.from_tensor_slices((data, data[:, :1])).batch(2)
    return model.evaluate(batch_size=64, x=pairs, verbose=0)  # lint: XL514

loss = judge(net, rows)

# %% many pictures at once, by add
eye = keras.models.Sequential()
eye.add(layers.Conv2D(2, 3))
eye.add(layers.GlobalMaxPooling2D())
eye.compile(loss="mse")
scans = np.random.rand(4, 8, 8, 1)
eye.fit(scans, np.ones((4, 2)), batch_size=2048, verbose=0)  # lint: XL514

# %% many pictures at once, in a class
class Reader:
    def __init__(self):
        scan = keras.Input((8, 8, 1))
        self.model = keras.Model(scan, layers.Conv2D(1, 3)(scan))

    def read(self, data):
        return self.model.predict(data, batch_size=4096, verbose=0)  # lint: XL514

out = Reader().read(scans)
