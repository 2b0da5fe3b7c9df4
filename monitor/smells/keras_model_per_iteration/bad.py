# needs: tensorflow
# %% a builder, and a loop in the next cell
import gc

import keras
import numpy as np
from keras import layers
from keras.models import Sequential

x = np.random.rand(32, 6).astype("float32")
y = np.random.rand(32, 1).astype("float32")

def make_net(width):
    net = keras.Sequential([keras.Input((6,)), layers.Dense(width), layers.Dense(1)])
    net.compile("adam", "mae")
    return net

# %% one model for each fold  # expect: XL501
report = []
for fold in range(4):
    net = make_net(4)  # lint: XL501
    net.fit(x, y, epochs=1, verbose=0)
    report.append(net.evaluate(x, y, verbose=0))

# %% collected
del net
gc.collect()

# %% in a function that a comprehension calls, from a name of its own  # expect: XL501
def score_of(units):
    student = Sequential()  # lint: XL501
    student.add(layers.Dense(units))
    student.compile(loss="mse")
    student.fit(x, y, verbose=0)
    return student.evaluate(x, y, verbose=0)

scores = [score_of(units) for units in (2, 3, 4)]

# %% collected again
gc.collect()

# %% in a method and an inner loop, as a functional model  # expect: XL501
class Study:
    def run(self):
        for rate in (0.1, 0.01):
            for width in (2, 3, 4):
                inp = keras.Input((6,))
                out = layers.Dense(1)(layers.Dense(width)(inp))
                probe = keras.Model(inp, out)  # lint: XL501
                probe.compile(keras.optimizers.SGD(rate), "mse")
                probe.fit(x, y, verbose=0)
                probe.evaluate(x, y, verbose=0)

Study().run()

# %% and collected again
gc.collect()

# %% kept by what their training returned  # expect: XL501
courses = []
for width in (2, 3, 4, 5):
    judged = make_net(width)  # lint: XL501
    courses.append(judged.fit(x, y, epochs=1, verbose=0))
