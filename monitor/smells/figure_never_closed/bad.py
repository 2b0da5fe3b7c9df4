# %% a figure for each, never closed  # expect: XL405
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

for star in range(25):
    figure, axes = plt.subplots()  # lint: XL405
    axes.imshow(np.zeros((200, 200)))

# %% closed
plt.close("all")
figure = axes = None

# %% by a function that is called in a loop  # expect: XL405
def draw(number):
    plt.figure()  # lint: XL405
    plt.plot(np.arange(20_000.0))

for number in range(30):
    draw(number)

# %% closed again
plt.close("all")

# %% several cells make them: the first
for number in range(15):
    draw(number)

# %% several cells make them: the second  # expect: XL405
for number in range(15):
    draw(number)
