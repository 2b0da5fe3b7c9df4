# needs: tensorflow
# %% a builder
import keras
import numpy as np
from keras import layers

x = np.zeros((8, 512), "float32")

def make_net():
    net = keras.Sequential([keras.Input((512,)), layers.Dense(512)])
    net.compile("adam", "mse")
    return net

# %% one model for each fold  # expect: XL501
report = []
for fold in range(4):
    net = make_net()  # lint: XL501
    net.fit(x, x, verbose=0)
    report.append(net.evaluate(x, x, verbose=0))

# %% in a function that a comprehension calls, cleared in each iteration  # expect: XL501
def score_of(rate):
    keras.backend.clear_session()
    student = make_net()
    student.optimizer.learning_rate = rate
    return student.train_on_batch(x, x)

scores = [score_of(rate) for rate in (0.1, 0.01, 0.001)]

# %% what training returned  # expect: XL501
def trained(units):
    inputs = keras.Input((512,))
    probe = keras.Model(inputs, layers.Dense(512)(layers.Dense(units)(inputs)))  # lint: XL501
    probe.compile("sgd", "mse")
    return probe.fit(x, x, verbose=0)

histories = {units: trained(units) for units in (512, 600, 700)}

# %% a list of it, of models that train without a graph  # expect: XL501
losses = []
for turn in range(4):
    judged = make_net()  # lint: XL501
    judged.compile("sgd", "mse", run_eagerly=True)
    losses.append(judged.fit(x, x, verbose=0))
