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

# %% the graph begins again in each iteration
for record in records:
    tf.compat.v1.reset_default_graph()
    with tf.compat.v1.Session() as sess:
        level = sess.run(tf.reduce_max(tf.constant(record)))

# %% layers are built in a loop
deep = tf.compat.v1.placeholder(tf.float32, [2])
state = deep
for layer in range(12):
    state = tf.tanh(state + layer)
with tf.compat.v1.Session() as sess:
    answers = [sess.run(state, {deep: record}) for record in records]

# %% initializers
with tf.compat.v1.Session() as sess:
    for record in records:
        sess.run(tf.compat.v1.global_variables_initializer())

# %% a few iterations, and their number
with tf.compat.v1.Session() as sess:
    for phase, name in enumerate(["test", "train"]):
        level = sess.run(tf.reduce_max(tf.constant(records[0])))
