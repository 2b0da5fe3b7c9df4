# %% weakly
import weakref

import torch

class Whole:
    def __init__(self):
        self.rows = torch.zeros(1_000, 1_000)
        self.part = Part()
        self.part.owner = weakref.ref(self)

# %% the part goes elsewhere
class Made:
    def __init__(self):
        self.rows = torch.zeros(1_000, 1_000)
        part = Part()
        part.owner = self
        register(part)

# %% the link is cut
class Closed:
    def __init__(self):
        self.rows = torch.zeros(1_000, 1_000)
        self.part = Part()
        self.part.user = self

    def close(self):
        self.part.user = None

# %% the owner is an argument
class Bank(torch.nn.Module):
    def __init__(self, count):
        super().__init__()
        self.register_buffer("keys", torch.zeros(count, 4))

    def nearest(self, query):
        return find(self, query)
