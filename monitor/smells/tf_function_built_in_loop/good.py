# needs: tensorflow
# %% once, outside
import functools

import tensorflow as tf

weights = [tf.ones(3) * n for n in range(8)]

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

for turn in range(3):
    outs = [step_for(size)(weights[0]) for size in range(1, 9)]

# %% the iteration is a training of its own
for weight in weights:
    @tf.function
    def train(x):
        return x * weight

    for batch in range(20):
        out = train(tf.ones(3))

# %% a step for each model
def step_of(model):
    @tf.function
    def step(x):
        return x * model

    return step

steps = {number: step_of(weight) for number, weight in enumerate(weights)}
outs = [step(tf.ones(3)) for step in steps.values()]
