# %% once, outside
import functools

import tensorflow as tf

weights = [tf.ones(3) * n for n in range(6)]

@tf.function
def gap(a, b):
    return a - b

for weight in weights:
    out = gap(weight, tf.ones(3))

# %% one for each of two phases
for factor in (1.0, 2.0):
    @tf.function
    def scaled(x):
        return x * factor

    out = scaled(tf.ones(3))

# %% made once for each size
@functools.lru_cache
def step_for(size):
    @tf.function
    def step(x):
        return x[:size]

    return step

for weight in weights:
    out = step_for(2)(weight)

# %% the iteration is a training of its own
for weight in weights:
    @tf.function
    def train(x):
        return x * weight

    for batch in range(10):
        out = train(tf.ones(3))

# %% a table of compiled functions
table = [tf.function(f) for f in (tf.abs, tf.square, tf.exp, tf.sin, tf.cos, tf.tan)]

# %% in the first iteration only
fast = None
for weight in weights:
    if fast is None:
        fast = tf.function(lambda x: x + 1)
    out = fast(weight)
