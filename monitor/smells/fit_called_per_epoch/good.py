# %% one call
import keras
import numpy as np
from keras import layers

net = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
net.compile("adam", "mse")
x = np.random.rand(16, 3)
y = np.random.rand(16, 1)
net.fit(x, y, epochs=3, verbose=0)

# %% shards of data
for shard in range(2):
    net.fit(x[shard * 8 : shard * 8 + 8], y[shard * 8 : shard * 8 + 8], verbose=0)

# %% with an evaluation and an early end
for epoch in range(3):
    net.fit(x, y, epochs=1, verbose=0)
    if net.evaluate(x, y, verbose=0) < 0.01:
        break

# %% the number of the epoch goes on
for epoch in range(3):
    net.fit(x, y, initial_epoch=epoch, epochs=epoch + 1, verbose=0)

# %% models of other libraries
class Line:
    def fit(self, x, y):
        return self

line = Line()
for epoch in range(3):
    line.fit(x, y)
