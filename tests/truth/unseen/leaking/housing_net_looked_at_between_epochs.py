# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "ipywidgets issue of 2022, answered with the output cache of IPython that has all that cells show; here a tensor and its graph"
# leaked = "8000 * (400 + 200 + 1) * 4"
# cause_cell = 7
# cause_line = "net(Xv)"
# holder = ["Out[7]", "Out", "_7", "_oh[7]", "_oh"]
# repair = "get_ipython().displayhook.flush()"
# ///
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(42)
rng = np.random.default_rng(42)
# %%
n = 12_000
houses = pd.DataFrame(
    {
        "rooms": rng.integers(1, 9, n),
        "area": rng.gamma(9, 12, n),
        "age": rng.integers(0, 120, n),
        "dist": rng.exponential(6, n),
    }
)
houses["price"] = 40 + 1.9 * houses.area - 0.2 * houses.age - 4 * np.sqrt(houses.dist) + rng.normal(0, 18, n)
# %%
houses.loc[rng.choice(n, 150, replace=False), "age"] = -1
houses["age"] = houses.age.replace(-1, int(houses.age.median()))
houses["area_room"] = houses.area / houses.rooms
# %%
Z = (houses - houses.mean()) / houses.std()
X = torch.tensor(Z.drop(columns="price").values, dtype=torch.float32)
t = torch.tensor(Z.price.values, dtype=torch.float32)[:, None]
Xt, tt, Xv, tv = X[:4000], t[:4000], X[4000:], t[4000:]
# %%
net = nn.Sequential(nn.Linear(5, 400), nn.Tanh(), nn.Linear(400, 200), nn.Tanh(), nn.Linear(200, 1))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)


def epochs(k):
    for _ in range(k):
        for b in torch.randperm(len(Xt)).split(500):
            opt.zero_grad()
            l = nn.functional.mse_loss(net(Xt[b]), tt[b])
            l.backward()
            opt.step()
    return l.item()


# %%
epochs(2)
# %%
net(Xv)
# %%
epochs(3)
# %%
with torch.no_grad():
    r2 = 1 - ((net(Xv) - tv) ** 2).mean().item()
round(r2, 3)
# %%
with torch.no_grad():
    resid = (tv - net(Xv)).squeeze().numpy() * houses.price.std()
pd.Series(resid).describe().round(2)
# %%
fig, ax = plt.subplots(figsize=(4, 3))
ax.hist(resid, bins=60)
plt.close(fig)
# %%
worst = houses.iloc[4000:].assign(resid=resid).nlargest(5, "resid")
print(worst.round(1).to_string())
