# needs: tensorflow
# %% the iterations are tensors
import tensorflow as tf

@tf.function
def cool(w, step, training=False):
    return w * 0.9 ** tf.cast(step, w.dtype)

w = tf.ones(4)
for k in tf.range(8):
    w = cool(w, k)

# %% a flag, and a last batch that is smaller
@tf.function
def score(x, training):
    return tf.reduce_mean(x) * (0.5 if training else 1.0)

for training in (True, False):
    for size in (4, 4, 4, 3):
        out = score(tf.ones(size), training)

# %% many lengths, traced for all of them
@tf.function(reduce_retracing=True)
def total(parts):
    return tf.reduce_sum(parts)

for length in range(2, 12):
    out = total(tf.ones(length))

# %% one trace by each of many cells: the first
@tf.function
def shift(x, by):
    return x + by

out = shift(w, 1)

# %% one trace by each of many cells: the second
out = shift(w, 2) + shift(w, 3)

# %% one trace by each of many cells: the third
out = shift(w, 4) + shift(w, 5)

# %% a function for each of a few models
class Model(tf.Module):
    @tf.function
    def __call__(self, x):
        return x * 2

models = [Model() for number in range(6)]
outs = [model(w) for model in models for step in range(3)]
