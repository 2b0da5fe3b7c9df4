# needs: tensorflow
# %% builders
import keras
import numpy as np
from keras import layers

digits = np.zeros((8, 512), "float32")

def trained(optimizer="adam"):
    made = keras.Sequential([keras.Input((512,)), layers.Dense(512)])
    made.compile(optimizer, "mse")
    made.fit(digits, digits, verbose=0)
    return made

class Study:
    def __init__(self):
        self.model = trained("sgd")

# %% a model under a name: once
coder = trained()

# %% a model under a name: a second time
coder = trained()

# %% a model under a name: a third time  # expect: XL512
coder = trained()

# %% an object that has one, with all cleared first: once
keras.backend.clear_session()
study = Study()

# %% an object that has one, with all cleared first: a second time
keras.backend.clear_session()
study = Study()

# %% an object that has one, with all cleared first: a third time  # expect: XL512
keras.backend.clear_session()
study = Study()

# %% two of which one is kept: once
pair = [trained(), trained()][:1]

# %% two of which one is kept: a second time
pair = [trained(), trained()][:1]

# %% two of which one is kept: a third time  # expect: XL512
pair = [trained(), trained()][:1]
