# %% the number of the iteration
import tensorflow as tf

@tf.function
def cool(w, step):
    return w * 0.9 ** tf.cast(step, w.dtype)

w = tf.ones(4)
for k in range(8):
    w = cool(w, k)  # lint: XL530

# %% from a name of its own, compiled by a call, in another cell
from tensorflow import function as compiled

@compiled(jit_compile=False)
def scale(x, by):
    return x * by

def nudge(x, rate, step=0):
    return x - rate * 0.1

fast = tf.function(nudge)

# %% a number that each iteration computes, in a function
def descend(x, rates):
    for rate in rates:
        x = fast(x, float(rate) * 2)  # lint: XL530
    return x

w = descend(w, [0.1 * n for n in range(8)])

# %% a counter, the number of enumerate in an inner loop
step = 0
while step < 8:
    w = scale(w, by=float(step))  # lint: XL530
    step += 1

for epoch in range(2):
    for number, part in enumerate(tf.data.Dataset.range(6)):
        w = fast(w, 0.5, step=number)  # lint: XL530
