# %% a buffer
import torch
from torch import nn

class Bank(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        keys = torch.zeros(count, width)
        keys.owner = self  # lint: XL106
        self.register_buffer("keys", keys)

# %% a module in a module
class Head(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head(self)  # lint: XL106

# %% a link that is set afterwards, on a part that has an attribute of its own
class Part:
    owner = None

class Whole:
    def __init__(self):
        self.rows = torch.zeros(1_000, 1_000)
        part = Part()
        part.owner = self  # lint: XL106
        self.parts = []
        self.parts.append(part)
