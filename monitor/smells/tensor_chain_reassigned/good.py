# needs: tensorflow
# %% deleted after the last gradient
import tensorflow as tf

start = tf.Variable(tf.ones([1 << 16]))

with tf.GradientTape(persistent=True) as tape:
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * tf.tanh(q)
slope = tape.gradient(q, start)
del tape

# %% not persistent
with tf.GradientTape() as short:
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * tf.tanh(q)
slope = short.gradient(q, start)

# %% asked in each cell
with tf.GradientTape(persistent=True) as path:
    q = start * 1.0
    r = q * q
    for _ in range(20):
        r = tf.tanh(r)

# %% asked in each cell: first
slope = path.gradient(q, start)

# %% asked in each cell: not for a while
count = 1

# %% asked in each cell: another one without it
count = 2

# %% asked in each cell: second, and then let go
slope = path.gradient(r, start)
path = None

# %% a short one
with tf.GradientTape(persistent=True) as little:
    s = tf.reduce_sum(start)

# %% plain rebinding
for _ in range(50):
    q = q + 0.1 * tf.tanh(q)

# %% a list of the steps, on purpose
steps = [start * 1.0]
for _ in range(20):
    steps.append(tf.tanh(steps[-1]))

# %% the steps once more
count = len(steps)
