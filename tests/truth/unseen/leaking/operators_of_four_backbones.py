# /// truth
# question = "asked"
# style = "long"
# needs = ["torch", "pandas", "matplotlib"]
# thread = "PyTorch issue of 2024 on graph.owning_module, and the review of 2021 that gave a graph its module: who has the graph has the module with its weights"
# leaked = "4 * (48 * 700 + 700 + 700 * 700 + 700 + 700 * 10 + 10 + 48 * 1000 + 1000 + 1000 * 1000 + 1000 + 1000 * 10 + 10 + 48 * 1400 + 1400 + 1400 * 1400 + 1400 + 1400 * 10 + 10 + 48 * 1800 + 1800 + 1800 * 1800 + 1800 + 1800 * 10 + 10)"
# cause_cell = 3
# cause_line = "return fx.symbolic_trace(net).graph"
# holder = ["graphs", "owning_module", "Graph", "GraphModule"]
# repair = "graphs = {k: [str(n) for n in g.nodes] for k, g in graphs.items()}"
# ///
# %% [markdown]
# # What do the four nets consist of?
# %%
import gc
import time

import matplotlib.pyplot as plt
import pandas as pd
import torch
from torch import fx, nn

torch.manual_seed(0)
# %%
class Backbone(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem, self.mid, self.head = nn.Linear(48, width), nn.Linear(width, width), nn.Linear(width, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = x + torch.nn.functional.silu(self.mid(x))
        return self.head(x)
# %%
def operators(net):
    return fx.symbolic_trace(net).graph
# %%
nets = {w: Backbone(w).eval() for w in (700, 1000, 1400, 1800)}
graphs = {w: operators(net) for w, net in nets.items()}
# %%
x = torch.randn(64, 48)
rows = []
with torch.no_grad():
    for w, net in nets.items():
        t = time.perf_counter()
        out = net(x)
        rows.append({"width": w, "ms": 1e3 * (time.perf_counter() - t), "spread": out.std().item()})
        del net, out
# %%
tab = pd.DataFrame(rows).set_index("width")
tab["params"] = [sum(p.numel() for p in net.parameters()) for net in nets.values()]
tab.round(3)
# %%
del nets
gc.collect()
# %%
ops = pd.DataFrame({w: pd.Series([n.op for n in g.nodes]).value_counts() for w, g in graphs.items()})
print(ops)
# %%
flops = pd.Series({w: 2 * (48 * w + w * w + 10 * w) for w in tab.index})
(flops / 1e6).round(2)
# %%
fig, ax = plt.subplots(figsize=(3, 2))
ax.loglog(tab.params, flops, "o-")
fig.savefig("nets.png", dpi=60)
plt.close(fig)
# %%
names = [n.name for n in graphs[700].nodes]
print(" -> ".join(names))
# %%
print("same operators in all:", ops.nunique(axis=1).max() == 1, "cheapest", flops.idxmin())
