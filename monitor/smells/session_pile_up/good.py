# needs: tensorflow
# %% two runs: once
import keras
import numpy as np
from keras import layers

digits = np.zeros((8, 512), "float32")

def trained(units=512):
    made = keras.Sequential([keras.Input((512,)), layers.Dense(units)])
    made.compile("adam", "mse")
    made.fit(digits, digits[:, :units], verbose=0)
    return made

coder = trained()

# %% two runs: a second time
coder = trained()

# %% all of them kept
kept = []

# %% all of them kept: once
kept.append(trained())

# %% all of them kept: a second time
kept.append(trained())

# %% all of them kept: a third time
kept.append(trained())

# %% one model, trained on: once
coder.fit(digits, digits, verbose=0);

# %% one model, trained on: a second time
coder.fit(digits, digits, verbose=0);

# %% one model, trained on: a third time
coder.fit(digits, digits, verbose=0);

# %% small ones: once
small = trained(2)

# %% small ones: a second time
small = trained(2)

# %% small ones: a third time
small = trained(2)
