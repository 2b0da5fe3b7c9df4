# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "torchmetrics tracker, 2023: metrics with list states use more memory with every step, since reset is not called or leaves the lists"
# leaked = "4 * 25 * 512 * 200 * 4"
# cause_cell = 3
# cause_line = "acc.update(model(xb).detach(), yb)"
# holder = ["acc", "acc.preds", "Top5"]
# repair = "acc.preds.clear()"
# ///
# %%
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(64, 200)
# %%
class Top5:
    def __init__(self):
        self.hit, self.n, self.preds = 0, 0, []
    def update(self, p, t):
        self.preds.append(p)
        self.hit += int((p.topk(5).indices == t[:, None]).sum())
        self.n += len(t)
    def reset(self):
        self.hit = self.n = 0
# %%
acc, curve = Top5(), []
for epoch in range(4):
    acc.reset()
    for _ in range(25):
        xb, yb = torch.randn(512, 64), torch.randint(200, (512,))
        acc.update(model(xb).detach(), yb)
    curve.append(acc.hit / acc.n)
print(curve)
