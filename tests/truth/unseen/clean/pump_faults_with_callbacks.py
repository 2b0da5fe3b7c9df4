# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "GitHub, Keras style callbacks, 2017 to 2020: the history kept for plots; it lets go of the trainer when training ends"
# ///
# %%
import gc
import numpy as np, pandas as pd
import torch
from torch import nn
# %%
rng = np.random.default_rng(2)
n = 2000
log = pd.DataFrame({f"s{i}": rng.normal(i % 3, 1, n) for i in range(24)})
log["fault"] = ((log.s0 + log.s5 - log.s9) > 2).astype(float)
log.fault.mean()
# %%
X = torch.tensor(log.drop(columns="fault").to_numpy(), dtype=torch.float32)
X = (X - X.mean(0)) / X.std(0)
y = torch.tensor(log.fault.to_numpy(), dtype=torch.float32)[:, None]
# %%
class Hook:
    runner = None
    def begin(self, runner): self.runner = runner
    def step(self, **kw): ...
    def end(self): self.runner = None
class Track(Hook):
    def __init__(self): self.out = []
    def step(self, **kw): self.out.append({**kw, "norm": sum(p.norm().item() for p in self.runner.net.parameters())})
# %%
class Runner:
    def __init__(self, net, *hooks):
        self.net, self.hooks = net, hooks
        self.opt = torch.optim.RMSprop(net.parameters(), 5e-4)
    def fit(self, steps):
        for h in self.hooks: h.begin(self)
        for s in range(steps):
            i = torch.randint(0, 1600, (128,))
            loss = nn.functional.binary_cross_entropy_with_logits(self.net(X[i]), y[i])
            self.opt.zero_grad(); loss.backward(); self.opt.step()
            for h in self.hooks: h.step(step=s, loss=loss.item())
        for h in self.hooks: h.end()
# %%
torch.manual_seed(5)
track = Track()
runner = Runner(nn.Sequential(nn.Linear(24, 1500), nn.ReLU(), nn.Linear(1500, 1000), nn.ReLU(), nn.Linear(1000, 1)), track)
runner.fit(15)
# %%
with torch.no_grad(): score = torch.sigmoid(runner.net(X[1600:]))[:, 0].numpy()
real = y[1600:, 0].numpy() > .5
((score > .5) == real).mean()
# %%
del runner
gc.collect()
# %%
curve = pd.DataFrame(track.out).set_index("step")
curve.tail(3)
# %%
order = np.argsort(-score)
gain = real[order].cumsum() / real.sum()
gain[len(gain) // 4].round(2)
# %%
import matplotlib.pyplot as plt
curve.loss.plot(); plt.savefig("loss.png"); plt.close("all")
# %%
torch.manual_seed(0)
hits = torch.tensor((score > .5) == real).float()
boot = hits[torch.randint(0, len(hits), (200, len(hits)))].mean(1)
print(f"accuracy {hits.mean():.3f} +- {boot.std():.3f}")
print(f"loss {curve.loss.iloc[-1]:.3f}, weights' norm {curve.norm.iloc[-1]:.1f}")
