# %% a function, and its loop in another cell
import tensorflow as tf

w = tf.Variable([1.0, 2.0])
sgd = tf.keras.optimizers.SGD(0.1)
batches = tf.data.Dataset.from_tensor_slices(tf.random.normal((20, 2))).batch(2)

def nudge(x):  # lint: XL503
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w - x))
    sgd.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

# %% the loop
for x in batches:
    nudge(x)

# %% from a name of its own, with an inner loop
from tensorflow import GradientTape

def step(x, y, optimizer):  # lint: XL503
    with GradientTape() as record:
        loss = tf.reduce_mean(tf.abs(w * x - y))
    slopes = record.gradient(loss, [w])
    optimizer.apply_gradients(zip(slopes, [w]))
    return loss

def train(epochs):
    adam = tf.keras.optimizers.Adam()
    adam.build([w])
    for epoch in range(epochs):
        for x in batches:
            last = step(x, 1.0, adam)
    return last

last = train(2)

# %% a method of a trainer
class Trainer:
    def __init__(self):
        self.weight = tf.Variable(1.0)
        self.optimizer = tf.keras.optimizers.SGD()

    def train_step(self, x):  # lint: XL503
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.weight * x)
        slope = tape.gradient(loss, self.weight)
        self.optimizer.apply_gradients([(slope, self.weight)])

    def train(self):
        for x in batches:
            self.train_step(x)

Trainer().train()
