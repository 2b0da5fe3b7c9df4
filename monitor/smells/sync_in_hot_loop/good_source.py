# %% one read for the log
import torch
from torch import nn

torch.set_num_threads(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(8, 2).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
ward = [(torch.rand(4, 8), torch.randint(2, (4,))) for number in range(3)]

history = []
for scan, label in ward:
    loss = criterion(net(scan.to(device)), label.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    history.append(loss.item())

# %% every hundredth
for number, (scan, label) in enumerate(ward):
    loss = criterion(net(scan.to(device)), label.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if number % 100 == 99:
        print(loss.item(), loss)
        torch.cuda.empty_cache()

# %% measured
import time

for scan, label in ward:
    start = time.perf_counter()
    loss = criterion(net(scan.to(device)), label.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    took = time.perf_counter() - start

# %% between phases
torch.cuda.empty_cache()

# %% no training
for scan, label in ward:
    with torch.no_grad():
        scores = net(scan.to(device))
    print(scores.argmax(1).tolist(), scores.cpu())
