# needs: tensorflow
# %% one gradient of a long path
import numpy as np
import tensorflow as tf

start = tf.Variable(np.ones(1 << 15, "float32"))

def force(q):
    return -q

with tf.GradientTape(persistent=True) as tape:
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * force(q)
slope = tape.gradient(q, start)

# %% the tape is still there  # expect: XL509
print(float(tf.reduce_sum(slope)))

# %% it goes
del tape

# %% from a name of its own, by augmented sums
from tensorflow import GradientTape

with GradientTape(True) as watcher:
    area = start * 0.0
    height = start * 1.0
    step = 0
    while step < 20:
        area += tf.square(height)
        step += 1

# %% the gradient
slope = watcher.gradient(area, start)

# %% something else  # expect: XL509
print(step)

# %% it goes as well
watcher = None

# %% a tape that a function returns
def recorded(turns):
    with tf.GradientTape(persistent=True) as record:  # lint: XL509
        p = start * 1.0
        for turn in range(turns):
            p = tf.tanh(p) * 2.0
    return record, p

kept, p = recorded(20)
rise = kept.gradient(p, start)

# %% and whose name stays  # expect: XL509
print(float(tf.reduce_sum(rise)))
