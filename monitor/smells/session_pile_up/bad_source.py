# %% a builder
import keras
import numpy as np
from keras import layers

digits = np.random.rand(8, 6)

def make_coder():
    made = keras.Sequential([keras.Input((6,)), layers.Dense(2), layers.Dense(6)])
    made.compile("adam", "mse")
    return made

# %% the first run
coder = make_coder()
coder.fit(digits, digits, verbose=0)

# %% once more
coder = make_coder()
coder.fit(digits, digits, epochs=2, verbose=0)

# %% and again
coder = make_coder()  # lint: XL512
coder.fit(digits, digits, epochs=3, verbose=0)

# %% and again, in a branch of another statement
with np.errstate(all="ignore"):
    coder = make_coder()  # lint: XL512
    coder.fit(digits, digits, epochs=1, verbose=0)

# %% copies of a constructor, from a name of its own
from tensorflow.keras.models import Sequential

line = Sequential([layers.Dense(1)])
line.compile("sgd", "mse")
line = Sequential([layers.Dense(1)])
line.compile("adam", "mse")
line = Sequential([layers.Dense(1)])  # lint: XL512
line.compile("rmsprop", "mse")
