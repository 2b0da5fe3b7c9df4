# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum since 2017 on hidden states carried over; truncated as the answers say, each piece of 20 steps is learnt from"
# ///
# %%
from collections import deque
import torch
from torch import nn

torch.manual_seed(1)
cell, out, u = nn.GRUCell(4, 256), nn.Linear(256, 1), torch.randn(100, 64, 4)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.01)
# %%
torch.manual_seed(2)
h, hs, loss = torch.zeros(64, 256), deque(maxlen=3), 0
for t in range(100):
    h = cell(u[t], h)
    loss = loss + (out(h)[:, 0] - u[t, :, 0]).square().mean()
    if t % 20 == 19:
        opt.zero_grad(); loss.backward(); opt.step()
        h = h.detach(); hs.append(h); loss = 0
# %%
torch.stack(list(hs)).std().round(decimals=2)
