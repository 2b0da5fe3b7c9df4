# needs: tensorflow gpu
# %% the device; nobody collects garbage
import gc

import keras
import numpy as np
import tensorflow as tf
from keras import layers

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

gc.disable()
x = np.random.rand(32, 64).astype("float32")

def assemble(width):
    net = keras.Sequential([keras.Input((64,)), layers.Dense(width), layers.Dense(64)])
    net.compile("adam", "mae")
    return net

def experiment(width):
    net = assemble(width)
    return net.fit(x, x, epochs=1, verbose=0).history

class Search:
    def __init__(self):
        self.losses = []

    def run(self, width):
        self.net = assemble(width)
        self.losses.append(self.net.evaluate(x, x, verbose=0))

search = Search()

# %% a model by a name, run 1
gan = assemble(1 << 16)
gan.fit(x, x, epochs=1, verbose=0)

# %% a model by a name, run 2
gan = assemble(1 << 16)
gan.fit(x, x, epochs=1, verbose=0)

# %% a model by a name, run 3
gan = assemble(1 << 16)
gan.fit(x, x, epochs=1, verbose=0)

# %% a model by a name, run 4  # expect: XL507
gan = assemble(1 << 16)
gan.fit(x, x, epochs=1, verbose=0)

# %% given back after a model by a name
del gan
keras.backend.clear_session()
collected = gc.collect()

# %% a function, run 1
history = experiment(1 << 16)

# %% a function, run 2
history = experiment(1 << 16)

# %% a function, run 3
history = experiment(1 << 16)

# %% a function, run 4  # expect: XL507
history = experiment(1 << 16)

# %% given back after a function
keras.backend.clear_session()
collected = gc.collect()

# %% an object, run 1
search.run(1 << 16)

# %% an object, run 2
search.run(1 << 16)

# %% an object, run 3
search.run(1 << 16)

# %% an object, run 4  # expect: XL507
search.run(1 << 16)

# %% given back after an object
print(len(search.losses))
