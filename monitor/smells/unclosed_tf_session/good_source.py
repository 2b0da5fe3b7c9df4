# %% a with block
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
slot = tf.compat.v1.placeholder(tf.float32, [3])
twice = slot * 2
with tf.compat.v1.Session() as sess:
    codes = [sess.run(twice, {slot: [n, n, n]}) for n in range(3)]

# %% closed in a later cell: opened
late = tf.compat.v1.InteractiveSession()
code = late.run(twice, {slot: [1, 2, 3]})

# %% closed in a later cell: closed
late.close()

# %% closed whatever happens
def ask(value):
    session = tf.compat.v1.Session()
    try:
        return session.run(twice, {slot: value})
    finally:
        session.close()

answer = ask([1, 2, 3])

# %% entered under its name
plain = tf.compat.v1.Session()
with plain:
    answer = plain.run(twice, {slot: [1, 2, 3]})

# %% whoever calls closes it
def opened():
    session = tf.compat.v1.Session()
    return session

opened().close()

# %% sessions of other libraries
class requests:
    class Session:
        pass

web = requests.Session()
