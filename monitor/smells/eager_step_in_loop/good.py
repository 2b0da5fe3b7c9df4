# %% compiled by a decorator
import keras
import tensorflow as tf

w = tf.Variable([1.0, 2.0])
sgd = tf.keras.optimizers.SGD(0.1)
batches = tf.data.Dataset.from_tensor_slices(tf.random.normal((20, 2))).batch(2)

@tf.function
def nudge(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w - x))
    sgd.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

for x in batches:
    nudge(x)

# %% compiled later
def plain(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w - x))
    sgd.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

fast = tf.function(plain)
for x in batches:
    fast(x)

# %% the step of a Keras model
class Net(keras.Model):
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self(data))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.weights), self.weights))
        return {"loss": loss}

# %% a step that prints
def loud(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w - x))
    sgd.apply_gradients(zip(tape.gradient(loss, [w]), [w]))
    print(float(loss))

for x in batches:
    loud(x)

# %% one step
def once(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w - x))
    sgd.apply_gradients(zip(tape.gradient(loss, [w]), [w]))

once(tf.ones(2))
