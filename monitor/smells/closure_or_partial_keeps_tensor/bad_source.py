# %% a function with a name
import torch as th

def make_scorer(bank):
    similar = th.cdist(bank, bank)

    def score(item):  # lint: XL407
        return similar[item].sum()

    return score

# %% partials in a loop
from functools import partial

import numpy as np

table = np.zeros((4000, 4000))
filters = []
for width in widths:
    filters.append(partial(smooth, table, width))  # lint: XL407
