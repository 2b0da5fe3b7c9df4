# %% a model
import keras
from keras import layers

critic = keras.Sequential([keras.Input((3,)), layers.Dense(1)])

# %% a note: around fit, from another module, in a function
from tensorflow.keras.optimizers import SGD

def search(rates, data):
    for rate in rates:
        critic.compile(SGD(rate), "mse")  # lint: XL513
        critic.fit(data, verbose=0)

search([0.1, 0.2], keras.utils.PyDataset())
