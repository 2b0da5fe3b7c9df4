# %% integers have no graph
import torch
from torch import nn

net = nn.Linear(4, 8)
classes, indices, pairs = [], [], []
for batch in loader:
    classes.append(net(batch).argmax(1))
    values, index = torch.max(net(batch), 1)
    indices.append(index)
    pairs.append(net(batch).topk(3)[1])

# %% without gradients, by a decorator
@torch.no_grad()
def predict(batch):
    return net(batch)

predictions = []
for batch in loader:
    predictions.append(predict(batch))

# %% a window
from collections import deque

window = deque(maxlen=16)
for batch in loader:
    window.append(net(batch))

# %% local to a function
def scores(loader):
    found = []
    for batch in loader:
        found.append(net(batch))
    return torch.cat(found)

# %% outputs of the layers of one model
layers = nn.ModuleList([nn.Linear(4, 4) for number in range(20)])
steps, x = [], torch.rand(2, 4)
for layer in layers:
    x = layer(x)
    steps.append(x)

# %% images led back together
parts = []
for view in views:
    parts.append(net(view))
loss = torch.stack(parts).mean()
loss.backward()

# %% rows of a tensor
table = torch.zeros(100, 8)
for number, batch in enumerate(loader):
    table[number] = net(batch).detach()

# %% snapshots of weights
snapshots = []
for batch in loader:
    snapshots.append(net.weight.clone())
