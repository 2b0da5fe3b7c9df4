# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "matplotlib"]
# thread = "GitHub, pytorch, 2020: averaged model and trained model at once; the trained one goes with its optimizer, the average is what is used"
# ///
# %%
import gc
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
# %%
torch.manual_seed(10)
def spiral(n):
    t = torch.rand(n) * 4 + .5
    k = torch.randint(0, 3, (n,))
    a = t * 2 + k * 2.0944
    return torch.stack([t * a.cos(), t * a.sin()], 1) + .1 * torch.randn(n, 2), k
# %%
xt, kt = spiral(1200)
xv, kv = spiral(400)
kt.bincount()
# %%
class Net(nn.Module):
    def __init__(self, h=1400):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(2, h), nn.Linear(h, h), nn.Linear(h, 3)
    def forward(self, x):
        return self.c(torch.relu(self.b(torch.relu(self.a(x)))))
# %%
net = Net()
avg = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(.8))
opt = torch.optim.SGD(net.parameters(), .02, momentum=.9)
# %%
@torch.no_grad()
def acc(m): return (m(xv).argmax(1) == kv).float().mean().item()
# %%
curve = []
for ep in range(3):
    for i in torch.randperm(1200).split(150):
        loss = nn.functional.cross_entropy(net(xt[i]), kt[i])
        opt.zero_grad(); loss.backward(); opt.step()
        avg.update_parameters(net)
    curve.append((acc(net), acc(avg)))
curve
# %%
del net, opt, loss
gc.collect()
# %%
import matplotlib.pyplot as plt
g = torch.linspace(-5, 5, 40)
grid = torch.cartesian_prod(g, g)
with torch.no_grad(): area = avg(grid).argmax(1).reshape(40, 40)
plt.imshow(area); plt.savefig("area.png"); plt.close("all")
# %%
share = area.flatten().bincount(minlength=3) / area.numel()
share
# %%
with torch.no_grad(): sure = avg(xv).softmax(1).max(1).values
(sure > .6).float().mean()
# %%
torch.manual_seed(11)
fresh, kf = spiral(500)
with torch.no_grad(): again = (avg(fresh).argmax(1) == kf).float().mean().item()
print(f"on new points {again:.3f}")
print(f"average after {int(avg.n_averaged)} updates: {acc(avg):.3f}")
