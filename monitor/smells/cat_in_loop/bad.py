# %% what the cells below need
import torch
from torch import cat as join

def rate(night):
    return torch.full((4096, 16), float(night))

class Journal:
    def __init__(self):
        self.pages = None

    def write(self, page):
        if self.pages is None:
            self.pages = page
        else:
            self.pages = torch.cat([self.pages, page])  # lint: XL110

def gather(nights, reverse=False):
    found = torch.empty(0, 16)
    for night in nights:
        found = torch.vstack((rate(night), found))  # lint: XL110
    return found

# %% in a loop of the cell  # expect: XL110
scores = torch.empty(0, 16)
for night in range(40):
    scores = torch.cat([scores, rate(night)])  # lint: XL110
    print(len(scores), end=" ")

# %% in a function that the cell calls, the new part first  # expect: XL110
result = gather(range(30)).mean()

# %% by a method that the loop calls  # expect: XL110
journal = Journal()
for night in range(25):
    journal.write(rate(night))

# %% two at once, by another name of the function  # expect: XL110  # expect: XL110
logits, depths = torch.empty(0, 16), None
for night in range(20):
    logits = join((logits, rate(night) * 2), dim=0)  # lint: XL110
    if depths is None:
        depths = rate(night)
    else:
        depths = torch.cat([depths, rate(night)])  # lint: XL110

# %% parts of many lengths, for each of two epochs again  # expect: XL110
for epoch in range(2):
    marks = torch.empty(0)
    for night in range(24):
        marks = torch.cat([marks, torch.arange(20000.0 + 1000 * (night % 5))])  # lint: XL110
    peaks = marks.amax()
