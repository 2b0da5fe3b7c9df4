# %% one gradient of a long path
import tensorflow as tf

start = tf.Variable([1.0, 2.0])

def force(q):
    return -q

with tf.GradientTape(persistent=True) as tape:  # lint: XL509
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * force(q)
slope = tape.gradient(q, start)

# %% the gradient in another cell, from a name of its own, by augmented sums
from tensorflow import GradientTape

with GradientTape(True) as watcher:  # lint: XL509
    area = start * 0.0
    height = start * 1.0
    step = 0
    while step < 20:
        area += tf.square(height)
        step += 1

# %% the gradient
slope = watcher.gradient(area, start)

# %% a local tape, in an inner loop: a note
def sensitivity(turns):
    with tf.GradientTape(persistent=True, watch_accessed_variables=True) as record:  # lint: XL509
        p = start * 1.0
        for turn in range(turns):
            for part in range(10):
                p = tf.tanh(p)
    rise = record.gradient(p, start)
    return rise

rise = sensitivity(3)
