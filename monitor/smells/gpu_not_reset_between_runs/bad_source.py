# %% the device
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

# %% nothing goes
for width in (2, 3, 4):
    gan = assemble(width)  # lint: XL507
    gan.fit(x, x, epochs=1, verbose=0)

# %% deleted, but a cycle stays: in a function
def compare(widths):
    losses = {}
    for width in widths:
        coder = assemble(width)  # lint: XL507
        losses[width] = coder.fit(x, x, verbose=0).history["loss"]
        del coder
    return losses

losses = compare([2, 3, 4])

# %% cleared, and never collected: a note, in an inner loop
from tensorflow.keras.backend import clear_session

for seed in range(2):
    for width in (2, 3):
        clear_session()
        small = assemble(width)  # lint: XL507
        small.predict(x, verbose=0)
