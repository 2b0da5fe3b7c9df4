# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "torchmetrics tracker, 2023: metrics with list states use more memory with every step, since reset is not called or leaves the lists"
# leaked = "4 * 25 * 512 * 200 * 4"
# cause_cell = 3
# cause_line = "logits = model(xb)"
# holder = ["acc", "acc.preds", "TopK"]
# repair = "acc.preds.clear(); acc.target.clear()"
# ///
# %%
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(64, 200)
# %%
class TopK:
    def __init__(self, k=5):
        self.k, self.hit, self.n = k, 0, 0
        self.preds, self.target = [], []
    def update(self, p, t):
        self.preds.append(p); self.target.append(t)
        self.hit += int((p.topk(self.k).indices == t[:, None]).sum()); self.n += len(t)
    def reset(self):
        self.hit = self.n = 0
    def compute(self):
        return self.hit / self.n
# %%
acc, curve = TopK(), []
for epoch in range(4):
    acc.reset()
    for _ in range(25):
        xb, yb = torch.randn(512, 64), torch.randint(200, (512,))
        with torch.no_grad():
            logits = model(xb)
        acc.update(logits, yb)
    curve.append(acc.compute())
del logits
print(curve)
