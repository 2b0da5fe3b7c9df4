# needs: tensorflow
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

# %% closed in a later cell: a helper
def answer_of(value):
    return late.run(twice, {slot: value})

# %% closed in a later cell: the helper uses it
first = answer_of([1, 1, 1])

# %% closed in a later cell: more of the graph
thrice = slot * 3

# %% closed in a later cell: something else
print(first)

# %% closed in a later cell: by the helper again
second = answer_of([2, 2, 2])

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

# %% a plain one goes with its name
def quick(value):
    with tf.compat.v1.Session() as session:
        return session.run(twice, {slot: value})

answers = [quick([n, n, n]) for n in range(3)]

# %% sessions of other libraries
class requests:
    class Session:
        pass

web = requests.Session()
