# %% the argument of a loader
from functools import partial

import torch
from torch.utils.data import DataLoader

loader = DataLoader(rows, collate_fn=partial(pad, pad_id=0))

# %% a key
order = sorted(rows, key=lambda row: row.sum())

# %% only numbers are captured
def make_scorer(bank):
    hot = (bank @ bank.T).sum(1).tolist()
    return lambda item: hot[item]

# %% called, not returned
def total(bank):
    doubled = torch.cat([bank, bank])
    part = lambda item: doubled[item].sum()
    return part(0) + part(1)
