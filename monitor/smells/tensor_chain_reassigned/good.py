# needs: tensorflow
# %% an ordinary tape
import numpy as np
import tensorflow as tf

start = tf.Variable(np.ones(1 << 15, "float32"))
with tf.GradientTape() as tape:
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * q
slope = tape.gradient(q, start)

# %% deleted after the second gradient
with tf.GradientTape(persistent=True) as twice:
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * q
    area = tf.reduce_sum(q)
slopes = twice.gradient(q, start), twice.gradient(area, start)
del twice

# %% plain rebinding
y = tf.ones(1 << 15)
for _ in range(20):
    y = y + 1

# %% one step, two gradients
with tf.GradientTape(persistent=True) as both:
    a = start * 2.0
    b = start * 3.0
slopes = both.gradient(a, start), both.gradient(b, start)

# %% a list of results, which a name has
path = [start * 1.0]
for _ in range(20):
    path.append(path[-1] + 1)

# %% the gradient in the next cell: recorded
with tf.GradientTape(persistent=True) as late:
    q = start * 1.0
    for _ in range(20):
        q = q * 1.1

# %% the gradient in the next cell: taken
slope = late.gradient(q, start)

# %% the gradient in the next cell: the end
del late
