# %% a builder, and a loop in the next cell
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

# %% one model for each fold
report = []
for fold in range(3):
    net = make_net(4)  # lint: XL501
    net.fit(x, y, epochs=1, verbose=0)
    report.append(net.evaluate(x, y, verbose=0))

# %% in a function that a comprehension calls, from a name of its own
def score_of(units):
    student = Sequential()  # lint: XL501
    student.add(layers.Dense(units))
    student.compile(loss="mse")
    student.fit(x, y, verbose=0)
    return student.evaluate(x, y, verbose=0)

scores = [score_of(units) for units in (2, 3, 4)]

# %% in a method and an inner loop, as a functional model
class Study:
    def run(self):
        for rate in (0.1, 0.01):
            for width in (2, 3):
                inp = keras.Input((6,))
                out = layers.Dense(1)(layers.Dense(width)(inp))
                probe = keras.Model(inp, out)  # lint: XL501
                probe.compile(keras.optimizers.SGD(rate), "mse")
                probe.train_on_batch(x, y)

Study().run()

# %% trained by a function that gets it
def measured(model, epochs):
    model.fit(x, y, epochs=epochs, verbose=0)
    return model.evaluate(x, y, verbose=0)

for width in (2, 3, 4):
    judged = make_net(width)  # lint: XL501
    report.append(measured(judged, 1))
