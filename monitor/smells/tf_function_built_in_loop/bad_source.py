# %% a decorated function in the loop
import tensorflow as tf

weights = [tf.ones(3) * n for n in range(6)]
for weight in weights:
    @tf.function
    def distil(x):  # lint: XL531
        return weight * x

    out = distil(tf.ones(3))

# %% by a call that is used at once
def double(x):
    return x * 2

for weight in weights:
    out = tf.function(double)(weight)  # lint: XL531

# %% in a function that is called in another cell, from a name of its own
from tensorflow import function as compiled

class Judge:
    def judge(self, x):
        @compiled(reduce_retracing=True)
        def measure(y):  # lint: XL531
            return tf.reduce_sum(y * y)

        return measure(x)

    def judge_all(self, parts):
        return [self.judge(part) for part in parts]

# %% a while loop, with a name
step = 0
while step < 6:
    fast = tf.function(lambda x: x + 1)  # lint: XL531
    out = fast(out)
    step += 1

sums = Judge().judge_all(weights)
