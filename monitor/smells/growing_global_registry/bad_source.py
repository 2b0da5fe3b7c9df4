# %% a dataclass, by its length
from dataclasses import dataclass

by_number = {}

@dataclass
class Track:
    points: list

    def __post_init__(self):
        by_number[len(by_number)] = self  # lint: XL409

# %% through the base class
import numpy as np

class Tracked:
    instances = set()

class Field(Tracked):
    def __init__(self, size):
        self.values = np.zeros(size)
        type(self).name = "field"
        Tracked.instances.add(self)  # lint: XL409
