# /// truth
# question = "unused"
# style = "short"
# needs = ["torch"]
# thread = "GitHub, mcfly, 2020, and hyperas, 2016: all candidate models stay in memory though only the chosen one is used on"
# leaked = "2 * 4 * (64 * 2400 + 2400 + 2400 * 1200 + 1200 + 1200 + 1)"
# cause_cell = 2
# cause_line = "wide = nn.Sequential("
# holder = ["wide"]
# repair = "del wide"
# ///
# %%
import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(1000, 64)
y = (X[:, :1] * X[:, 1:2]).tanh()
def fit(net, steps=4):
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(steps):
        opt.zero_grad(); loss = nn.functional.mse_loss(net(X[:750]), y[:750]); loss.backward(); opt.step()
    with torch.no_grad():
        return nn.functional.mse_loss(net(X[750:]), y[750:]).item()
# %%
wide = nn.Sequential(nn.Linear(64, 2400), nn.ReLU(), nn.Linear(2400, 1200), nn.ReLU(), nn.Linear(1200, 1))
slim = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
print("wide", fit(wide), "slim", fit(slim, 60))
# %% [markdown]
# No gain from the width, so the small one it is.
# %%
print("longer", fit(slim, 200))
# %%
with torch.no_grad():
    print(slim(X[:4]).flatten(), y[:4].flatten())
