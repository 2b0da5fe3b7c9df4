# needs: tensorflow
# %% a network whose layers are much larger than its rows
import keras
import numpy as np
from keras import layers

rows = np.zeros((1024, 64), "float32")

def network(length):
    made = keras.Sequential([keras.Input((64,)), layers.RepeatVector(length)])
    made.add(layers.GlobalAveragePooling1D())
    made.add(layers.Dense(1))
    made.compile("sgd", "mse")
    return made

net = network(1 << 30)

# %% trained with all of it at once  # raises  # expect: XL514
net.fit(rows, rows[:, :1], batch_size=1024, verbose=0)

# %% a few at a time
small = network(4)
small.fit(rows[:64], rows[:64, :1], batch_size=32, verbose=0)

# %% judged in a function, the size by its place  # raises  # expect: XL514
def judge(model, data):
    return model.evaluate(data, data[:, :1], 512, verbose=0)

judge(net, rows)

# %% asked in a class, in batches that nobody chose  # raises  # expect: XL514
class Reader:
    def __init__(self):
        self.model = network(1 << 30)

    def read(self, data):
        return self.model.predict(data, verbose=0)

out = Reader().read(rows)
