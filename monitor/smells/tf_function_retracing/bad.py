# needs: tensorflow
# %% a function and numbers
import tensorflow as tf

@tf.function
def cool(w, step):
    return w * 0.9 ** tf.cast(step, w.dtype)

w = tf.ones(4)

# %% the number of the iteration  # expect: XL530
for k in range(8):
    w = cool(w, k)  # lint: XL530

# %% compiled by a call, kept in a dictionary
def total(parts):
    return tf.reduce_sum(parts)

tools = {"total": tf.function(total)}

# %% a new length in each iteration  # expect: XL530
sums = [float(tools["total"](tf.ones(length))) for length in range(2, 10)]

# %% a method
class Filter:
    @tf.function
    def apply(self, x, factor):
        return x * factor

smooth = Filter()

# %% that a function calls with Python numbers  # expect: XL530
def run_all(count):
    out = w
    for k in range(count):
        out = smooth.apply(out, 1.0 + k)  # lint: XL530
    return out

w = run_all(7)

# %% a method of an object for each iteration  # expect: XL530
class Blur:
    @tf.function
    def soften(self, x):
        return x * 0.5

for k in range(8):
    out = Blur().soften(w)
