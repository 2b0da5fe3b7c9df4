# /// truth
# question = "hides"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch forum of 2017 and later: hidden state carried from step to step is not detached, the graph of all steps stays"
# leaked = "(200 - 3) * 128 * 512 * 4"
# cause_cell = 2
# cause_line = "h = torch.tanh("
# holder = ["hs", "h"]
# repair = "hs = deque((v.detach() for v in hs), 3); h = h.detach()"
# ///
# %%
from collections import deque
import torch
from torch import nn

torch.manual_seed(1)
w_in, w_rec = nn.Linear(4, 512), nn.Linear(512, 512)
u = torch.randn(200, 128, 4)
# %%
h, hs = torch.zeros(128, 512), deque(maxlen=3)
for t in range(200):
    h = torch.tanh(w_in(u[t]) + w_rec(h))
    hs.append(h)
# %%
print(len(hs), float(hs[-1].std()))
