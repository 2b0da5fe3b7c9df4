# needs: tensorflow
# %% operations beside the run  # expect: XL516
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
records = [[n, n + 1.0] for n in range(10)]
sums = []
with tf.compat.v1.Session() as sess:
    for record in records:
        total = tf.reduce_sum(tf.constant(record))  # lint: XL516
        sums.append(sess.run(total))

# %% another graph
tf.compat.v1.reset_default_graph()

# %% a helper, from another module
import tensorflow.compat.v1 as tf1

def loudness(wave):
    level = tf1.abs(wave)  # lint: XL516
    with tf1.Session() as session:
        return session.run(level)

# %% that a comprehension calls in another cell  # expect: XL516
levels = [loudness(record) for record in records]

# %% a graph that each run builds: once
state = tf1.placeholder(tf.float32, [2])
for layer in range(12):
    state = tf.tanh(state + layer)

# %% a graph that each run builds: a second time
state = tf1.placeholder(tf.float32, [2])
for layer in range(12):
    state = tf.tanh(state + layer)

# %% a graph that each run builds: a third time  # expect: XL516
state = tf1.placeholder(tf.float32, [2])
for layer in range(12):
    state = tf.tanh(state + layer)
