# %% closed once it is saved
import io

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

for star in range(25):
    figure, axes = plt.subplots()
    axes.imshow(np.zeros((200, 200)))
    figure.savefig(io.BytesIO())
    plt.close(figure)

# %% one figure, used again
figure, axes = plt.subplots()
for star in range(25):
    axes.clear()
    axes.imshow(np.zeros((400, 400)))

# %% a few figures
for number in range(5):
    plt.figure()
    plt.plot(np.arange(60_000.0))

# %% figures that pyplot does not know
from matplotlib.figure import Figure

figures = [Figure() for number in range(25)]
for figure in figures:
    figure.add_subplot().plot(np.arange(20_000.0))
