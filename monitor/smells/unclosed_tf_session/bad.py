# needs: tensorflow
# %% left open
import tensorflow as tf

tf.compat.v1.disable_eager_execution()
slot = tf.compat.v1.placeholder(tf.float32, [3])
twice = slot * 2
sess = tf.compat.v1.InteractiveSession()  # lint: XL506
codes = [sess.run(twice, {slot: [n, n, n]}) for n in range(3)]

# %% something else
print(len(codes))

# %% a dictionary of sessions
import tensorflow.compat.v1 as tf1

sessions = {"first": tf1.Session()}
answer = sessions["first"].run(twice, {slot: [1, 2, 3]})

# %% a picture
print(answer)

# %% the next topic
print(sum(answer))

# %% and the next: both are idle  # expect: XL506  # expect: XL506
names = ["first"]

# %% a function that leaves an interactive one behind
def ask(value):
    session = tf1.InteractiveSession()
    return session.run(twice, {slot: value})

# %% and is called  # expect: XL506
answer = ask([1, 2, 3])
