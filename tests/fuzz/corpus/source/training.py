import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader
from collections import deque
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.feats = []
    def forward(self, x):
        h = self.fc(x)
        self.feats.append(h)
        self.last = h.detach()
        return F.relu(h)
net = Net().to("cuda")
crit = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters())
loader = DataLoader(ds, batch_size=3)
losses, hist = [], deque(maxlen=10)
total = 0.0
for epoch in range(10):
    for x, y in loader:
        out = net(x)
        loss = crit(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss)
        hist.append(out)
        losses.append((epoch, loss.item()))
        total += loss
        %time foo(x)
with torch.no_grad():
    preds = [net(x).argmax(1) for x, _ in loader]
@torch.no_grad()
def ev(m, xs):
    r = []
    for x in xs:
        r.append(m(x))
    return r
def train(model, loader, criterion):
    for a, b in loader:
        l = criterion(model(a), b)
        l.backward()
        losses.append(l)
!ls \
  foo
files = !ls
x?
%matplotlib inline
train(net, loader, crit)
