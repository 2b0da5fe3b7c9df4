# /// truth
# question = "hides"
# style = "long"
# needs = ["torch", "numpy", "pandas", "matplotlib"]
# thread = "PyTorch issues of 2024 and 2026 on functorch: the function that vjp returns closes over the results with their graph, all intermediates of the forward pass with them"
# leaked = "5 * 4 * 1400 * (1024 + 40 + 1)"
# cause_cell = 5
# cause_line = "out, pull = torch.func.vjp(response, x)"
# holder = ["pulls", "vjp", "graph", "grad_fn"]
# repair = "pulls.clear()"
# ///
# %% [markdown]
# # Which inputs move the yield?
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch

torch.manual_seed(21)
# %%
NAMES = [f"in{i:02d}" for i in range(40)]
SITES = ["north", "hill", "coast", "plain", "delta"]
W1 = torch.randn(40, 1024) / 40**0.5 * torch.linspace(2, 0.1, 40)[:, None]
w2 = torch.randn(1024) / 32
# %%
def response(x):
    return torch.tanh(x @ W1) @ w2
# %%
def inputs(site, n=1400):
    g = torch.Generator().manual_seed(sum(map(ord, site)))
    return torch.randn(n, 40, generator=g) + 0.3 * len(site)
# %%
pulls = {}


def at(site):
    x = inputs(site)
    out, pull = torch.func.vjp(response, x)
    pulls[site] = pull
    return {"site": site, "mean": out.mean().item(), "sd": out.std().item()}
# %%
tab = pd.DataFrame([at(site) for site in SITES]).set_index("site")
tab.round(3)
# %%
sens = {}
for site, pull in pulls.items():
    (g,) = pull(torch.ones(1400))
    sens[site] = g.abs().mean(0).numpy()
sens = pd.DataFrame(sens, index=NAMES)
del pull, g, site
# %%
sens.mean(axis=1).nlargest(5).round(4)
# %%
ranks = sens.rank()
print("rank correlation of the sites", ranks.corr().to_numpy()[np.triu_indices(5, 1)].min().round(3))
# %%
fig, ax = plt.subplots(figsize=(5, 2.5))
sens.plot(ax=ax, legend=False)
fig.savefig("inputs.png", dpi=60)
plt.close(fig)
# %%
share = sens.sum() / sens.sum().sum()
print(", ".join(f"{s} {share[s]:.3f}" for s in pulls))
# %%
few = sens.mean(axis=1).sort_values(ascending=False).cumsum() / sens.mean(axis=1).sum()
print(int((few < 0.8).sum()) + 1, "inputs carry 80 %; largest yield at", tab["mean"].idxmax())
