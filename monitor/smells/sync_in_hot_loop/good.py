# needs: gpu
# %% one read for the log
import time

import torch
from torch import nn

device = torch.device("cuda")
net = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 2)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
scan = torch.rand(8192, 4096, device=device)
label = torch.randint(2, (8192,), device=device)

start, history = time.monotonic(), []
while time.monotonic() - start < 2:
    loss = criterion(net(scan.to(device)), label)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    history.append(loss.item())

# %% every hundredth
for turn in range(400):
    loss = criterion(net(scan), label)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if turn % 100 == 99:
        print(loss.item(), loss)
        torch.cuda.empty_cache()

# %% two reads that take none of the time
start = time.monotonic()
small = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(small.parameters(), 0.1)
while time.monotonic() - start < 2:
    loss = small(torch.rand(8, 4).to(device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    worst = loss.item()  # lint: XL609
    again = loss.detach().cpu().numpy()  # lint: XL609
    torch.linalg.svd(torch.rand(400, 400))
