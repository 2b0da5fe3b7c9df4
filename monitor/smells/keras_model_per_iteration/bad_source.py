# %% trained by a function that gets it
import keras
import numpy as np
from keras import layers

x = np.random.rand(32, 6).astype("float32")
y = np.random.rand(32, 1).astype("float32")
report = []

def make_net(width):
    net = keras.Sequential([keras.Input((6,)), layers.Dense(width), layers.Dense(1)])
    net.compile("adam", "mae")
    return net

def measured(model, epochs):
    model.fit(x, y, epochs=epochs, verbose=0)
    return model.evaluate(x, y, verbose=0)

for width in (2, 3, 4):
    judged = make_net(width)  # lint: XL501
    report.append(measured(judged, 1))
