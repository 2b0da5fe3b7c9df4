# needs: tensorflow
# %% one model that is trained many times
import gc

import keras
import numpy as np
from keras import layers

x = np.zeros((8, 512), "float32")

def make_net(units=512):
    net = keras.Sequential([keras.Input((512,)), layers.Dense(units)])
    net.compile("adam", "mse")
    return net

net = make_net()
start = net.get_weights()
for fold in range(4):
    net.set_weights(start)
    net.fit(x, x, verbose=0)

# %% an ensemble keeps its models
ensemble = [make_net() for member in range(3)]
history_of = {}
for number, member in enumerate(ensemble):
    history_of[number] = member.fit(x, x, verbose=0)

# %% a large and a small one
for units in (512, 2):
    probe = make_net(units)
    probe.train_on_batch(x, x[:, :units])

# %% asked, and not trained
for turn in range(4):
    asked = make_net()
    asked.predict(x, verbose=0)
    del asked
    gc.collect()

# %% trained without a graph
for turn in range(4):
    plain = make_net()
    plain.compile("adam", "mse", run_eagerly=True)
    plain.fit(x, x, verbose=0)
    del plain
    gc.collect()

# %% small ones
for turn in range(4):
    small = make_net(2)
    small.train_on_batch(x, x[:, :2])
    del small
    gc.collect()
