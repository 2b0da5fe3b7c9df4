# needs: gpu
# %% small results between large temporaries  # expect: XL604
import torch

pairs = []
for step in range(60):
    features = torch.ones(2 << 20, device="cuda")
    mark = torch.zeros(1 << 19, device="cuda")
    pairs.append((features, mark))
marks = [mark for features, mark in pairs]
pairs = features = mark = None

# %% all gone
marks = None
torch.cuda.empty_cache()

# %% every eighth of many blocks stays  # expect: XL604
blocks = [torch.zeros(1 << 19, device="cuda") for part in range(400)]
blocks = blocks[::8]

# %% gone again
blocks = None
torch.cuda.empty_cache()

# %% a cache that keeps the last of each group  # expect: XL604
last = {}
for group in range(40):
    rows = [torch.zeros(1 << 19, device="cuda") for row in range(10)]
    last[group] = rows[-1]
    if group == 0:
        every = []
    every += rows
every = rows = None
