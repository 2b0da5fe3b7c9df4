# %% bound by value
import functools
import weakref

import torch

class Fit:
    def __init__(self, net, decay):
        self.net, self.decay = net, decay
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step, decay=decay: decay**step
        )

fit = Fit(torch.nn.Linear(3_000, 2_000), 0.9)
lived = len([[number] for number in range(20_000)])

# %% bound by value: replaced
fit = None

# %% a weak method
class Monitor:
    def __init__(self):
        self.history = bytearray(20_000_000)
        self.on_step = weakref.WeakMethod(self.record)

    def record(self, value):
        self.history[0] = value

monitor = Monitor()
lived = len([[number] for number in range(20_000)])
del monitor

# %% a key function
class Table:
    def __init__(self):
        self.rank = list(range(3_000_000))

    def sorted(self, rows):
        return sorted(rows, key=lambda row: self.rank[row])

rows = Table().sorted([3, 1, 2])

# %% a callback in use
class Sampler:
    def __init__(self):
        self.rows = torch.zeros(5_000, 1_000)
        self.draw = functools.partial(max, self)

sampler = Sampler()
lived = len([[number] for number in range(20_000)])

# %% callbacks that are cleared
sampler.draw = None
del sampler

# %% a figure with a callback of the user's: made
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt

figure, axes = plt.subplots()
axes.imshow(torch.zeros(1_500, 1_500).numpy())
handle = figure.canvas.mpl_connect("button_press_event", lambda event: axes.clear())
lived = len([[number] for number in range(20_000)])

# %% a figure with a callback of the user's: closed
plt.close(figure)
del figure, axes

# %% a figure with a callback of the user's: still quiet
count = lived + 1
