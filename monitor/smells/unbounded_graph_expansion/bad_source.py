# %% operations beside the run
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
records = [[n, n + 1.0] for n in range(10)]
sums = []
with tf.compat.v1.Session() as sess:
    for record in records:
        total = tf.reduce_sum(tf.constant(record))  # lint: XL516
        sums.append(sess.run(total))

# %% in a helper that a comprehension calls, from another module
import tensorflow.compat.v1 as tf1

def loudness(wave):
    level = tf1.abs(wave)  # lint: XL516
    with tf1.Session() as session:
        return session.run(level)

levels = [loudness(record) for record in records]

# %% a variable is assigned by a new operation each time
rate = tf1.Variable(0.1)

def schedule(session, epochs):
    for epoch in range(epochs):
        session.run(rate.assign(0.1 / (epoch + 1)))  # lint: XL516

with tf1.Session() as opened:
    opened.run(tf1.global_variables_initializer())
    schedule(opened, 10)
