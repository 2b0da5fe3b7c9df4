# needs: tensorflow
# %% two models in one cell
import keras
import numpy as np
from keras import layers

critic = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
maker = keras.Sequential([keras.Input((2,)), layers.Dense(3)])
duo = keras.Sequential([maker, critic])
x, y = np.random.rand(8, 3), np.ones((8, 1))
noise = np.random.rand(8, 2)

# %% each compiled in each iteration  # expect: XL513
for k in range(6):
    critic.trainable = True
    critic.compile("rmsprop", "mse")  # lint: XL513
    critic.train_on_batch(x, y)
    critic.trainable = False
    duo.compile("rmsprop", "mse")  # lint: XL513
    duo.train_on_batch(noise, y)

# %% in a method, a while loop  # expect: XL513
class Trainer:
    def __init__(self, model):
        self.model = model

    def train(self, steps):
        done = 0
        while done < steps:
            self.model.compile(optimizer="sgd", loss="mae")  # lint: XL513
            self.model.train_on_batch(x, y)
            done += 1

Trainer(critic).train(5)

# %% compiled for each batch, in a function
def teach(student, batches):
    for inputs, targets in batches:
        student.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-3))  # lint: XL513
        student.train_on_batch(inputs, targets)

student = keras.Sequential([keras.Input((3,)), layers.Dense(1)])

# %% that another cell calls  # expect: XL513
teach(student, [(x, y)] * 5)
