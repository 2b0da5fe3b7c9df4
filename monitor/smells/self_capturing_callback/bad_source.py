# %% a schedule
import torch
from torch.optim.lr_scheduler import LambdaLR as Schedule

class Fit:
    def __init__(self, optimizer, decay):
        self.net = torch.nn.Linear(4, 4)
        self.decay = decay
        self.schedule = Schedule(optimizer, lambda step: self.decay**step)  # lint: XL113

# %% a nested function in a list
class Experiment:
    def __init__(self):
        self.net = torch.nn.Linear(4, 4)
        self.on_epoch = []

        def report(epoch):
            print(epoch, self.net)

        self.on_epoch.append(report)  # lint: XL113

# %% a partial in a dictionary, of a module
from functools import partial as bind

class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {}
        self.heads["mean"] = bind(pool, self)  # lint: XL113

# %% a bound method
class Monitor:
    def __init__(self):
        self.action = self.record  # lint: XL113

    def record(self, value):
        print(value)
