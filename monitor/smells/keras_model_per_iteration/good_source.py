# %% cleared at the head of the loop
import gc

import keras
import numpy as np
from keras import backend as K
from keras import layers

x = np.random.rand(32, 6).astype("float32")
y = np.random.rand(32, 1).astype("float32")

def make_net():
    net = keras.Sequential([keras.Input((6,)), layers.Dense(4), layers.Dense(1)])
    net.compile("adam", "mae")
    return net

for fold in range(3):
    K.clear_session()
    net = make_net()
    net.fit(x, y, epochs=1, verbose=0)
    del net
    gc.collect()

# %% cleared in a function of the loop
def fresh():
    keras.utils.clear_session()
    return make_net()

for fold in range(3):
    net = fresh()
    net.fit(x, y, verbose=0)

# %% collected in each iteration
for fold in range(3):
    net = make_net()
    net.fit(x, y, verbose=0)
    del net
    gc.collect()

# %% one model that is trained many times
net = make_net()
for fold in range(3):
    net.fit(x, y, verbose=0)

# %% an ensemble keeps its models
ensemble = []
for member in range(3):
    net = make_net()
    net.fit(x, y, verbose=0)
    ensemble.append(net)

# %% a large and a small one
for fold in range(2):
    net = make_net()
    net.fit(x, y, verbose=0)

# %% made in the first iteration only
teacher = None
for batch in range(4):
    if teacher is None:
        teacher = make_net()
    teacher.train_on_batch(x, y)

# %% a tuner calls its builder
def build(hp):
    net = keras.Sequential([layers.Dense(hp.Int("units", 2, 8)), layers.Dense(1)])
    net.compile("adam", "mse")
    return net
