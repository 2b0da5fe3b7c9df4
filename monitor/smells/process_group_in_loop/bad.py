# %% one process, as in a test
import os
import tempfile

import torch
import torch.distributed as dist
from torch.distributed import new_group

meeting = os.path.join(tempfile.mkdtemp(), "meeting")
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=0, world_size=1)
weights = torch.rand(4)

# %% a group for each stage
for stage in range(3):
    peers = dist.new_group(ranks=[0])  # lint: XL302
    dist.broadcast(weights, src=0, group=peers)

# %% imported by its own name, in an inner loop
for epoch in range(2):
    for batch in range(2):
        team = new_group([0])  # lint: XL302
        torch.distributed.all_reduce(weights, group=team)

# %% a function for one step
def average(tensor):
    everyone = torch.distributed.new_group()  # lint: XL302
    dist.all_reduce(tensor, group=everyone)
    return tensor

# %% that a loop calls
for step in range(3):
    average(weights)

# %% a group for each stage, run again  # expect: XL302
for stage in range(3):
    peers = dist.new_group(ranks=[0])  # lint: XL302
    dist.broadcast(weights, src=0, group=peers)

# %% two groups of all: run
pair = [dist.new_group() for side in range(2)]
dist.all_reduce(weights, group=pair[0])

# %% two groups of all: run again  # expect: XL302
pair = [dist.new_group() for side in range(2)]
dist.all_reduce(weights, group=pair[0])

# %% a function that makes them
def teams(count):
    return {number: dist.new_group([0]) for number in range(count)}

# %% is called
named = teams(2)

# %% something else
print(len(named))

# %% is called again  # expect: XL302
named = teams(2)
