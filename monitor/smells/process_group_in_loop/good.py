# %% one process, as in a test
import os
import tempfile

import torch
import torch.distributed as dist

meeting = os.path.join(tempfile.mkdtemp(), "meeting")
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=0, world_size=1)
weights = torch.rand(4)

# %% all groups first
groups = [dist.new_group(ranks=[0]) for stage in range(3)]
for step in range(6):
    dist.broadcast(weights, src=0, group=groups[step % 3])

# %% each process makes all groups and keeps its own
for first in range(1):
    ranks = [first]
    group = dist.new_group(ranks)
    if dist.get_rank() in ranks:
        mine = group

# %% destroyed in the same iteration
for step in range(3):
    team = dist.new_group([0])
    try:
        dist.all_reduce(weights, group=team)
    finally:
        dist.destroy_process_group(team)

# %% destroyed by the next run: the first
for old in globals().get("sides", []):
    dist.destroy_process_group(old)
sides = [dist.new_group([0]) for side in range(2)]

# %% destroyed by the next run: the second
for old in globals().get("sides", []):
    dist.destroy_process_group(old)
sides = [dist.new_group([0]) for side in range(2)]

# %% one by two cells each
first = [dist.new_group([0]) for side in range(2)]

# %% another cell
second = [dist.new_group([0]) for side in range(3)]

# %% the end
dist.destroy_process_group()
