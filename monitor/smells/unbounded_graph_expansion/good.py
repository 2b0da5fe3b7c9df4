# needs: tensorflow
# %% built once, and fed
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
records = [[n, n + 1.0] for n in range(10)]
slot = tf.compat.v1.placeholder(tf.float32, [2])
total = tf.reduce_sum(slot)
with tf.compat.v1.Session() as sess:
    sums = [sess.run(total, {slot: record}) for record in records]

# %% a graph of its own
def loudness(wave):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(tf.abs(wave))

levels = [loudness(record) for record in records]

# %% layers are built in a loop, and run in another
deep = tf.compat.v1.placeholder(tf.float32, [2])
state = deep
for layer in range(12):
    state = tf.tanh(state + layer)
with tf.compat.v1.Session() as sess:
    answers = [sess.run(state, {deep: record}) for record in records]

# %% three models
for model in range(3):
    answer = tf.reduce_max(slot * float(model))
    with tf.compat.v1.Session() as sess:
        best = [sess.run(answer, {slot: record}) for record in records]

# %% begun again by each run: once
tf.compat.v1.reset_default_graph()
towers = [tf.reduce_sum(tf.constant(record)) for record in records]

# %% begun again by each run: a second time
tf.compat.v1.reset_default_graph()
towers = [tf.reduce_sum(tf.constant(record)) for record in records]

# %% begun again by each run: a third time
tf.compat.v1.reset_default_graph()
towers = [tf.reduce_sum(tf.constant(record)) for record in records]

# %% the graph begins again in each iteration
for record in records:
    tf.compat.v1.reset_default_graph()
    with tf.compat.v1.Session() as sess:
        level = sess.run(tf.reduce_max(tf.constant(record)))
