# %% a lambda that uses self: made
import functools
import gc

import torch

class Fit:
    def __init__(self, net, decay):
        self.net, self.decay = net, decay
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: self.decay**step  # lint: XL113
        )

fit = Fit(torch.nn.Linear(1_000, 600), 0.9)
lived = len([[number] for number in range(20_000)])

# %% a lambda that uses self: replaced
fit = Fit(torch.nn.Linear(1_000, 600), 0.9)

# %% a lambda that uses self: still there  # expect: XL113
decay = fit.decay

# %% bound methods in a list: made
gc.collect()

class Monitor:
    def __init__(self):
        self.history = bytearray(4_000_000)
        self.on_step = [self.record]  # lint: XL113

    def record(self, value):
        self.history[0] = value

monitors = [Monitor() for number in range(3)]
lived = len([[number] for number in range(20_000)])

# %% bound methods in a list: dropped
monitors.clear()

# %% bound methods in a list: still there  # expect: XL113
count = len(monitors)

# %% a partial: made
gc.collect()

def scaled(sampler, value):
    return sampler.rows * value

class Sampler:
    def __init__(self):
        self.rows = torch.zeros(5_000, 1_000)
        self.draw = functools.partial(scaled, self)  # lint: XL113

sampler = Sampler()
lived = len([[number] for number in range(20_000)])

# %% a partial: deleted  # expect: XL113
del sampler
