# needs: tensorflow
# %% compiled once
import keras
import numpy as np
from keras import layers

critic = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
maker = keras.Sequential([keras.Input((2,)), layers.Dense(3)])
duo = keras.Sequential([maker, critic])
x, y = np.random.rand(8, 3), np.ones((8, 1))
critic.compile("rmsprop", "mse")
duo.compile("rmsprop", "mse")
for k in range(6):
    critic.train_on_batch(x, y)
    duo.train_on_batch(np.random.rand(8, 2), y)

# %% two phases
for rate in (0.1, 0.01):
    critic.compile(keras.optimizers.SGD(rate), "mse")
    critic.fit(x, y, verbose=0)

# %% a phase begins
for epoch in range(6):
    if epoch == 3:
        critic.trainable = False
        critic.compile("sgd", "mse")
    critic.train_on_batch(x, y)

# %% the rate of learning
for epoch in range(6):
    critic.optimizer.learning_rate.assign(0.1 / (epoch + 1))
    critic.train_on_batch(x, y)

# %% patterns
import re

for word in ("a", "b", "c", "d", "e", "f"):
    pattern = re.compile(word)

# %% a model for each width
for width in (2, 3, 4, 5, 6):
    pupil = keras.Sequential([keras.Input((3,)), layers.Dense(width), layers.Dense(1)])  # lint: XL501
    pupil.compile("sgd", "mse")
    pupil.fit(x, y, verbose=0)

# %% trained, tested and asked
critic.fit(x, y, validation_data=(x, y), verbose=0)
critic.evaluate(x, y, verbose=0)
critic.predict(x, verbose=0)
