# %% each batch once
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.Linear(8, 2).to(device)
weights = torch.tensor([0.3, 0.7]).to(device)
batches = [torch.rand(4, 8) for number in range(3)]

for batch in batches:
    batch = batch.to(device, non_blocking=True)
    out = net(batch.flip(1)) * weights

# %% results go to the host, for good
scores = []
for batch in batches:
    scores.append(net(batch.to(device)).detach().cpu().numpy())

# %% another type, the same device
for batch in batches:
    small = weights.to(torch.float16)

# %% the world in between needs the host
class World:
    def step(self, action):
        return action + np.ones(2, dtype="float32")

world = World()
seen = torch.zeros(8, device=device)
for number in range(3):
    action = net(seen).detach().cpu().numpy()
    seen = torch.from_numpy(np.tile(world.step(action), 4)).to(device)

# %% another object in each iteration
models = [nn.Linear(8, 2) for number in range(3)]
for model in models:
    out = model.to(device)(batches[0].to(device))

# %% once for all, when it is first needed
table = None
for batch in batches:
    if table is None:
        table = torch.rand(8, 8)
        table = table.to(device)
    out = batch.to(device) @ table

# %% element by element, which is the host's work
for batch in batches:
    labels = batch.to(device).cpu().numpy()
    for row in range(len(labels)):
        labels[row] = int(labels[row].sum() > 4)
    labels = torch.from_numpy(labels).to(device)
