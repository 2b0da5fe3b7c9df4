# needs: tensorflow gpu
# %% all three steps
import gc

import keras
import numpy as np
import tensorflow as tf
from keras import layers

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

x = np.random.rand(32, 6).astype("float32")

def assemble(width):
    net = keras.Sequential([keras.Input((6,)), layers.Dense(width), layers.Dense(6)])
    net.compile("adam", "mae")
    return net

for width in (2, 3, 4):
    gan = assemble(width)
    gan.fit(x, x, epochs=1, verbose=0)
    del gan
    tf.keras.backend.clear_session()
    gc.collect()

# %% all three, the clearing first
def reset():
    keras.backend.clear_session()
    gc.collect()

for width in (2, 3, 4):
    reset()
    coder = assemble(width)
    coder.fit(x, x, verbose=0)
    del coder

# %% one model that serves
server = assemble(3)
answers = [server.predict_on_batch(x) for request in range(4)]

# %% a process for each run
from subprocess import run

for width in (2, 3, 4):
    run(["echo", str(width)])
