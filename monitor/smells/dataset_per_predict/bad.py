# %% the model in one cell
import keras
import numpy as np
import tensorflow as tf
from keras import layers

net = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
rows = np.random.rand(9, 3).astype("float32")

# %% an item at a time
answers = []
for number in range(9):
    answers.append(net.predict(rows[number : number + 1], verbose=0))  # lint: XL511

# %% a new pipeline for each item, in a while loop
turn = 0
while turn < 9:
    feed = tf.data.Dataset.from_tensors(rows[turn][None])
    answers.append(net.predict(feed, verbose=0))  # lint: XL511
    turn += 1

# %% in a method that a comprehension calls
from tensorflow.data import Dataset

class Judge:
    def __init__(self, model):
        self.model = model
        self.feed = Dataset.from_tensor_slices((rows, rows[:, :1])).batch(9)

    def judge(self):
        return self.model.evaluate(self.feed, verbose=0)  # lint: XL511

    def judge_often(self):
        return [self.judge() for turn in range(9)]

net.compile("adam", "mse")
losses = Judge(net).judge_often()
