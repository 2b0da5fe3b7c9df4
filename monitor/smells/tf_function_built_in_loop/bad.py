# needs: tensorflow
# %% a decorated function in the loop  # expect: XL531
import tensorflow as tf

weights = [tf.ones(3) * n for n in range(8)]
for weight in weights:
    @tf.function
    def distil(x):  # lint: XL531
        return weight * x

    out = distil(tf.ones(3))

# %% a function
def double(x):
    return x * 2

# %% compiled by a call that is used at once  # expect: XL531
outs = []
for weight in weights:
    outs.append(tf.function(double)(weight))  # lint: XL531

# %% in a method
class Judge:
    def judge(self, x):
        @tf.function(reduce_retracing=True)
        def measure(y):  # lint: XL531
            return tf.reduce_sum(y * y)

        return measure(x)

    def judge_all(self, parts):
        return [self.judge(part) for part in parts]

# %% that another cell calls  # expect: XL531
sums = Judge().judge_all(weights)
