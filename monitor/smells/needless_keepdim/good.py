# %% normalised by itself
import torch

scores = torch.rand(64, 10)
unit = scores / scores.norm(dim=-1, keepdim=True)
centred = scores - scores.mean(dim=1, keepdim=True)

# %% layer normalisation by hand
mean = scores.mean(-1, keepdim=True)
spread = scores.var(-1, keepdim=True)
normed = (scores - mean) / (spread + 1e-5).sqrt()

# %% a stable softmax
highest = scores.max(dim=1, keepdim=True).values
shares = (scores - highest).exp()

# %% the values of a pair of values and indices
spread_out = scores - scores.max(-1, keepdim=True)[0]

# %% returned, for whoever needs the axis
def average(x):
    return x.mean(1, keepdim=True)

# %% expanded
wide = scores.sum(1, keepdim=True).expand_as(scores)

# %% without the axis
targets = torch.rand(64)
gap = targets - scores.mean(dim=1)

# %% many rows, normalised by themselves
table = torch.rand(900, 900)
middle = table.mean(dim=1, keepdim=True)
centred = table - middle
level = centred.mean()

# %% a square that is used as one
most = table.amax(1, keepdim=True)
apart = most - torch.rand(900)
nearest = apart.argmin(0)
