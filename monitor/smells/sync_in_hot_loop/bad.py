# needs: gpu
# %% a model that takes its time
import time

import torch
from torch import nn

device = torch.device("cuda")
net = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 2)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
scan = torch.rand(8192, 4096, device=device)
label = torch.randint(2, (8192,), device=device)

# %% two reads in each step  # expect: XL609
start = time.monotonic()
while time.monotonic() - start < 2:
    scores = net(scan.to(device))
    loss = criterion(scores, label)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    worst = loss.item()  # lint: XL609
    guess = scores.argmax(1).tolist()  # lint: XL609

# %% in a function, by another name
from torch.cuda import synchronize as join

def train(turns):
    for turn in range(turns):
        criterion(net(scan), label).backward()
        optimizer.step()
        optimizer.zero_grad()
        join()  # lint: XL609

# %% that another cell calls  # expect: XL609
train(400)

# %% an emptied cache  # expect: XL609
for turn in range(400):
    criterion(net(scan), label).backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.empty_cache()  # lint: XL609
