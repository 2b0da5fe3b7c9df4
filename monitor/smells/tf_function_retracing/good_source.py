# %% the iterations are tensors
import tensorflow as tf

@tf.function
def cool(w, step, training=False):
    return w * 0.9 ** tf.cast(step, w.dtype)

w = tf.ones(4)
for k in tf.range(8):
    w = cool(w, k)

# %% a tensor of the number
for k in range(8):
    w = cool(w, tf.constant(k))

# %% a signature turns numbers into tensors
@tf.function(input_signature=[tf.TensorSpec([4]), tf.TensorSpec([], tf.int32)])
def bounded(w, step):
    return w * 0.9 ** tf.cast(step, tf.float32)

for k in range(8):
    w = bounded(w, k)

# %% two traces
for k in range(8):
    w = cool(w, tf.constant(k), training=k > 4)

# %% batches of a dataset
for part in tf.data.Dataset.range(8):
    w = cool(w, part)

# %% batches in epochs, and their numbers as tensors
for epoch in range(8):
    for part in tf.data.Dataset.range(2):
        w = cool(w, part)
    for number, part in tf.data.Dataset.range(2).enumerate():
        w = cool(w, number)

# %% three iterations
for k in range(3):
    w = cool(w, k)

# %% plain Python
def plain(w, step):
    return w * 0.9**step

for k in range(8):
    w = plain(w, k)
