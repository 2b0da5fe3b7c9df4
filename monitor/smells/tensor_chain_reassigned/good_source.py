# %% an ordinary tape
import tensorflow as tf

start = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * q
slope = tape.gradient(q, start)

# %% deleted after the second gradient
with tf.GradientTape(persistent=True) as twice:
    q = start * 1.0
    for _ in range(20):
        q = q + 0.1 * q
    area = tf.reduce_sum(q)
slopes = twice.gradient(q, start), twice.gradient(area, start)
del twice

# %% plain rebinding
y = tf.ones(3)
for _ in range(20):
    y = y + 1

# %% one step, two gradients
with tf.GradientTape(persistent=True) as both:
    a = start * 2.0
    b = start * 3.0
    count = 0
    for name in ("a", "b", "c"):
        count += 1
slopes = both.gradient(a, start), both.gradient(b, start)

# %% a variable of its own
total = tf.Variable(0.0)
for _ in range(20):
    total.assign_add(1.0)
