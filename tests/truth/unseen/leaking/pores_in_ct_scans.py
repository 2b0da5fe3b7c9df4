# /// truth
# question = "unused"
# style = "long"
# needs = ["numpy", "scipy", "pandas", "matplotlib"]
# thread = "Pull requests of imaging projects, 2015 to 2022, that delete what is between scan and result: pymks on two point statistics, ark-analysis on channel averages"
# leaked = "110 * 170 * 170 * (4 + 4 + 1 + 4)"
# cause_cell = 4
# cause_line = "lab, count = ndimage.label(mask)"
# holder = ["vol", "smooth", "mask", "lab"]
# repair = "del vol, smooth, mask, lab"
# ///
# %% [markdown]
# # Pores in four castings
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import ndimage
# %%
def scan(name, shape=(110, 170, 170)):
    rng = np.random.default_rng(sum(map(ord, name)))
    v = rng.normal(1.0, 0.15, shape).astype("float32")
    for z, y, x in rng.integers(4, np.array(shape) - 9, (60, 3)):
        v[z : z + 5, y : y + 5, x : x + 5] -= rng.uniform(0.3, 0.9)
    return v
# %%
parts = ["A14", "A15", "B02", "C07"]
voxel = 0.04  # mm
# %%
found = []
for name in parts:
    vol = scan(name)
    smooth = ndimage.uniform_filter(vol, 3)
    mask = smooth < 0.7
    lab, count = ndimage.label(mask)
    size = np.bincount(lab.ravel())[1:]
    found.append(pd.DataFrame({"part": name, "vox": size}))
    print(name, count, "regions")
# %%
pores = pd.concat(found, ignore_index=True)
pores = pores[pores.vox >= 8]
pores["mm3"] = pores.vox * voxel**3
# %%
per_part = pores.groupby("part").mm3.agg(["size", "sum", "max"])
per_part.round(4)
# %%
pores["d"] = (6 * pores.mm3 / np.pi) ** (1 / 3)
bins = np.linspace(0, 0.4, 13)
hist = {n: np.histogram(g.d, bins)[0] for n, g in pores.groupby("part")}
# %%
fig, ax = plt.subplots(figsize=(4, 3))
for n, h in hist.items():
    ax.step(bins[:-1], h, label=n)
ax.legend()
fig.savefig("pores.png", dpi=60)
plt.close(fig)
# %%
limit = 0.22
over = pores[pores.d > limit].groupby("part").size().reindex(parts, fill_value=0)
over
# %%
share = per_part["sum"] / (110 * 170 * 170 * voxel**3)
print("porosity in per mille", (1000 * share).round(3).to_dict())
# %%
verdict = pd.DataFrame({"over": over, "porosity": share})
verdict["ok"] = (verdict.over < 40) & (verdict.porosity < 0.01)
print(verdict.round(5))
