# needs: tensorflow
# %% a builder
import gc

import keras
import numpy as np
from keras import layers
from keras.models import Sequential

digits = np.random.rand(8, 6)

def make_coder():
    made = keras.Sequential([keras.Input((6,)), layers.Dense(2), layers.Dense(6)])
    made.compile("adam", "mse")
    return made

# %% a builder is called: run
coder = make_coder()
coder.fit(digits, digits, verbose=0)

# %% a builder is called: run again
coder = make_coder()
coder.fit(digits, digits, verbose=0)

# %% a builder is called: and again  # expect: XL512
coder = make_coder()  # lint: XL512
coder.fit(digits, digits, verbose=0)

# %% collected
gc.collect()

# %% a model that is written out: run
line = Sequential([keras.Input((6,)), layers.Dense(1)])
line.compile("sgd", "mse")
line.predict(digits, verbose=0)

# %% something else
print(line.count_params())

# %% a model that is written out: run again
line = Sequential([keras.Input((6,)), layers.Dense(1)])
line.compile("sgd", "mse")
line.predict(digits, verbose=0)

# %% a model that is written out: and again  # expect: XL512
line = Sequential([keras.Input((6,)), layers.Dense(1)])  # lint: XL512
line.compile("sgd", "mse")
line.predict(digits, verbose=0)

# %% collected again
gc.collect()

# %% the last line shows a History: run
student = make_coder()
student.fit(digits, digits, verbose=0)

# %% a study of two models
def study():
    inputs = keras.Input((6,))
    hidden = layers.Dense(2)(inputs)
    encoder = keras.Model(inputs, hidden)
    whole = keras.Model(inputs, layers.Dense(6)(hidden))
    whole.compile("adam", "mse")
    whole.train_on_batch(digits, digits)
    return encoder

# %% two models: run
encoder = study()

# %% two models: run again
encoder = study()

# %% two models: and again  # expect: XL512
encoder = study()
