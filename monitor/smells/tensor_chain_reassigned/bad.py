# needs: tensorflow
# %% a long path, and one gradient of it
import tensorflow as tf

start = tf.Variable(tf.ones([1 << 16]))

with tf.GradientTape(persistent=True) as tape:
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * tf.tanh(q)
slope = tape.gradient(q, start)

# %% some cells
speed = 2

# %% without it
speed = 20

# %% kept under a name  # expect: XL509
speed = 200

# %% no more of it
del tape

# %% recorded
class Run:
    pass

run = Run()
run.tape = tf.GradientTape(persistent=True)
with run.tape:
    steps = [start * 2.0]
    for _ in range(20):
        steps.append(tf.square(steps[-1]))
del steps[:-1]

# %% asked in another cell
slope = run.tape.gradient(steps[0], start)

# %% some cells
speed = 3

# %% without it
speed = 30

# %% kept by an object  # expect: XL509
speed = 300

# %% no more of that one
run.tape = None

# %% two, in a list
tapes = []
for scale in (1.0, 2.0):
    with tf.GradientTape(persistent=True) as one:
        area = start * scale
        for _ in range(20):
            area = area * tf.exp(-area)
    tapes.append(one)
del one

# %% some cells
speed = 4

# %% without it
speed = 40

# %% kept in a list  # expect: XL509
speed = 400

# %% by their names
first, second = tapes
del tapes

# %% some cells
speed = 5

# %% without it
speed = 50

# %% kept under two names  # expect: XL509
speed = 500
