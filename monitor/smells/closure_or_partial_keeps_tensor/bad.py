# %% closures in a list  # expect: XL407
import torch

torch.set_num_threads(1)

def ranker(catalogue):
    similar = catalogue @ catalogue.T
    return lambda item: similar[item].argmax()  # lint: XL407

rankers = [ranker(torch.rand(600, 20)) for number in range(3)]

# %% a partial under a name  # expect: XL407
import functools

import numpy as np

def shifted(table, value):
    return table[0] + value

shift = functools.partial(shifted, np.ones((800, 400)))

# %% a generator that waits  # expect: XL407
def pieces(size):
    whole = np.ones(size)
    for start in range(0, size, 1_000):
        yield whole[start]

first = pieces(300_000)
value = next(first)

# %% a closure as an attribute  # expect: XL407
class Search:
    pass

search = Search()
search.rank = ranker(torch.rand(700, 20))
