# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy"]
# thread = "CPython issue of 2017 that brought gc.freeze, and a Synapse pull request of 2020 that calls it for speed alone: what is frozen is looked at by no collection"
# leaked = "85 * 200 * 200 * 8"
# cause_cell = 1
# cause_line = "self.grid = np.full("
# holder = ["gc.freeze", "gc.unfreeze", "permanent generation", "frozen", "cycle", "reference cycle"]
# repair = "import gc; gc.unfreeze()"
# ///
# %%
import gc

import numpy as np


class Cell:
    def __init__(self, parent=None):
        self.parent, self.kids = parent, []
        self.grid = np.full((200, 200), 0.5)

    def split(self, depth):
        if depth:
            self.kids = [Cell(self) for _ in range(4)]
            for k in self.kids:
                k.split(depth - 1)
        return self

    def total(self):
        return self.grid.sum() + sum(k.total() for k in self.kids)


# %%
def survey(depth):
    root = Cell().split(depth)
    gc.freeze()  # no pauses while we integrate
    return root.total()


# %%
print(survey(3))
