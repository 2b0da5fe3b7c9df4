# %% cleared before each build
import keras
import numpy as np
from keras import layers

digits = np.random.rand(8, 6)

def make_coder(width=2):
    made = keras.Sequential([keras.Input((6,)), layers.Dense(width), layers.Dense(6)])
    made.compile("adam", "mse")
    return made

coder = make_coder()
coder.fit(digits, digits, verbose=0)

# %% cleared: once more
keras.backend.clear_session()
coder = make_coder()
coder.fit(digits, digits, verbose=0)

# %% cleared: and again
keras.backend.clear_session()
coder = make_coder()
coder.fit(digits, digits, verbose=0)

# %% different models
net = make_coder(3)
net = make_coder(4)
net = make_coder(5)
net.fit(digits, digits, verbose=0)

# %% models under different names
small = make_coder()
large = make_coder()
spare = make_coder()
small.fit(digits, digits, verbose=0)
