# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch issue of 2019 on itertools.cycle around a loader; here the data are four batches, seen many times"
# ///
# %%
from itertools import cycle, islice
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 8, 3, stride=4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
data = torch.utils.data.TensorDataset(torch.randn(128, 3, 64, 64), torch.randint(0, 2, (128,)))
batches = cycle(torch.utils.data.DataLoader(data, batch_size=32))
net(next(batches)[0])
opt = torch.optim.SGD(net.parameters(), lr=0.05)
# %%
torch.manual_seed(1)
for xb, yb in islice(batches, 40):
    loss = nn.functional.cross_entropy(net(xb), yb)
    opt.zero_grad(); loss.backward(); opt.step()
# %%
with torch.no_grad():
    print([round(nn.functional.cross_entropy(net(x), t).item(), 2) for x, t in islice(batches, 4)])
