# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow, 2013 and later: how to make a cached property forget its value; del of the attribute does it"
# ///
# %%
from functools import cached_property
import numpy as np

class Survey:
    def __init__(self, year): self.year = year
    @cached_property
    def answers(self):
        return np.random.default_rng(self.year).integers(0, 5, (400_000, 12))
    def share(self, q): return np.bincount(self.answers[:, q], minlength=5) / len(self.answers)
# %%
s = Survey(2021)
shares = np.array([s.share(q) for q in range(12)])
# %%
del s.answers
print(s.year, shares.argmax(axis=1))
