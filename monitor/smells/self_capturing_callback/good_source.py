# %% by value
import weakref
from functools import partial

import torch
from torch.optim.lr_scheduler import LambdaLR

class Fit:
    def __init__(self, optimizer, decay):
        self.net = torch.nn.Linear(4, 4)
        self.schedule = LambdaLR(optimizer, lambda step, decay=decay: decay**step)
        self.pool = partial(torch.mean, dim=decay)

# %% a key that is used at once
class Table:
    def __init__(self):
        self.rows = torch.zeros(4)
        self.order = sorted([1, 2], key=lambda row: self.rows[row])

# %% weakly
class Monitor:
    def __init__(self):
        self.net = torch.nn.Linear(4, 4)
        self.action = weakref.WeakMethod(self.record)

    def record(self, value):
        print(value)

# %% cleared
class Cleared:
    def __init__(self):
        self.net = torch.nn.Linear(4, 4)
        self.callbacks = []
        self.callbacks.append(lambda: self.net)

    def close(self):
        self.callbacks.clear()

# %% the value of an attribute
class Mixed(torch.nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table
        self.mix = partial(torch.matmul, self.table)
