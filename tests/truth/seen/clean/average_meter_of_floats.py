# /// truth
# question = "grows"
# style = "short"
# needs = ["torch"]
# thread = "PyTorch FAQ and Stack Overflow, about 2018: do not sum the loss tensor over the loop, use loss.item() in the history"
# ///
# %%
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(100, 800), nn.ReLU(), nn.Linear(800, 1))
opt = torch.optim.Adam(net.parameters())
X = torch.randn(4000, 100); y = X[:, :3].sum(1, keepdim=True)
# %%
class History:
    def __init__(self):
        self.values = {"loss": [], "grad": []}
    def log(self, **kw):
        for k, v in kw.items():
            self.values[k].append(v)
# %%
hist = History()
for epoch in range(6):
    for xb, yb in zip(X.split(200), y.split(200)):
        loss = (net(xb) - yb).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        hist.log(loss=loss.item(), grad=nn.utils.clip_grad_norm_(net.parameters(), 1.0).item())
print(len(hist.values["loss"]), hist.values["loss"][-1])
