# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas"]
# thread = "Look-alike of the reports on thread locals of a pool: the pool stands in a with block, its threads end and their locals with them"
# ///
# %%
import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(4)
torch.set_num_threads(1)
rng = np.random.default_rng(4)
# %%
WORDS = 25_000
reviews = [torch.from_numpy(rng.integers(0, WORDS, rng.integers(5, 60))) for _ in range(900)]
stars = rng.integers(1, 6, len(reviews))
pd.Series(stars).value_counts(normalize=True).round(2)
# %%
emb = nn.Sequential(nn.Embedding(WORDS, 96), nn.Linear(96, 96), nn.Tanh()).eval()
# %%
local = threading.local()


def setup():
    local.net = copy.deepcopy(emb)


@torch.no_grad()
def embed(ids):
    return local.net(ids).mean(0)


# %%
with ThreadPoolExecutor(2, initializer=setup) as pool:
    V = torch.stack(list(pool.map(embed, reviews)))
V.shape
# %%
V = V - V.mean(0)
U, S, _ = torch.linalg.svd(V, full_matrices=False)
print("first ten directions:", round(((S[:10] ** 2).sum() / (S**2).sum()).item(), 3))
# %%
G = nn.functional.normalize(V, dim=1) @ nn.functional.normalize(V, dim=1).T
G.fill_diagonal_(-1)
near = G.argmax(1)
# %%
same = (stars[near.numpy()] == stars).mean()
print(f"neighbour with the same stars: {same:.1%}")
# %%
tab = pd.DataFrame({"stars": stars, "len": [len(r) for r in reviews], "sim": G.max(1).values.numpy()})
tab.groupby("stars").mean().round(3)
# %%
pairs = tab.assign(near=near.numpy()).nlargest(3, "sim")[["near", "sim"]]
print(pairs.round(3))
# %%
print("longest review", tab.len.max(), "corr of length and similarity", tab.len.corr(tab.sim).round(3))
