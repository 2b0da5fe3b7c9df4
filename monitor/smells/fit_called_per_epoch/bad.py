# %% the model in one cell
import keras
import numpy as np
from keras import layers

net = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
net.compile("adam", "mse")
x = np.random.rand(16, 3)
y = np.random.rand(16, 1)

# %% an epoch at a time
for epoch in range(3):
    net.fit(x, y, epochs=1, verbose=0)  # lint: XL502

# %% in a function, the epochs unsaid, with a word about it
from tensorflow.keras.models import Sequential

def train(rounds):
    student = Sequential([layers.Dense(2), layers.Dense(1)])
    student.compile(loss="mae")
    for number in range(rounds):
        student.fit(x, y, verbose=0)  # lint: XL502
        print("round", number)
    return student

student = train(3)

# %% in a method and an inner loop, the history kept
class Study:
    def __init__(self):
        self.model = keras.models.clone_model(net)
        self.model.compile("sgd", "mse")

    def run(self):
        for rate in (0.1, 0.2):
            self.model.optimizer.learning_rate.assign(rate)
            for epoch in range(2):
                history = self.model.fit(x, y, epochs=1, verbose=0)  # lint: XL502
        return history

history = Study().run()
