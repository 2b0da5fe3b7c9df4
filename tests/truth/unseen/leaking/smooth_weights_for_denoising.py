# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "numpy"]
# thread = "GitHub, several EMA helpers, 2020 to 2023: the averaging object keeps the trained model besides its own copy"
# leaked = "4 * (1024 * 2600 + 2600 + 2600 * 1024 + 1024)"
# cause_cell = 3
# cause_line = "nn.Linear(d, h), nn.GELU()"
# holder = ["ema", "ema.model", "EMA"]
# repair = "ema.model = None"
# ///
# %%
import gc
import numpy as np
import torch
from torch import nn
from torch.func import functional_call
# %%
g = torch.Generator().manual_seed(9)
def patches(n):
    f = torch.rand(n, 1, generator=g) * 6
    t = torch.linspace(0, 3, 1024)
    clean = torch.sin(f * t)
    return clean + .3 * torch.randn(clean.shape, generator=g), clean
# %%
def make(d=1024, h=2600):
    return nn.Sequential(nn.Linear(d, h), nn.GELU(), nn.Linear(h, d))
# %%
class EMA:
    def __init__(self, model, decay=.9):
        self.model, self.decay, self.n = model, decay, 0
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}
    @torch.no_grad()
    def update(self):
        self.n += 1
        for k, v in self.model.state_dict().items():
            self.shadow[k].lerp_(v, 1 - self.decay)
# %%
torch.manual_seed(0)
net = make()
ema = EMA(net)
opt = torch.optim.SGD(net.parameters(), lr=.3)
# %%
curve = []
for step in range(20):
    noisy, clean = patches(24)
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(noisy), clean)
    loss.backward(); opt.step()
    ema.update()
    curve.append(loss.item())
np.round(curve[::5], 4)
# %%
with torch.no_grad():
    noisy, clean = patches(64)
    raw = nn.functional.mse_loss(net(noisy), clean).item()
raw
# %%
# the averaged weights go on, the net itself does not
opt.zero_grad(set_to_none=True)
del net, opt, loss
gc.collect()
# %%
with torch.device("meta"):
    shape = make()
def denoise(x):
    with torch.no_grad():
        return functional_call(shape, ema.shadow, (x,))
# %%
smooth = nn.functional.mse_loss(denoise(noisy), clean).item()
print(f"raw {raw:.4f} averaged {smooth:.4f}")
# %%
levels = [.1, .3, .6]
table = {s: nn.functional.mse_loss(denoise(clean + s * torch.randn(clean.shape, generator=g)), clean).item() for s in levels}
table
# %%
print("best at", min(table, key=table.get), "after", ema.n, "updates")
