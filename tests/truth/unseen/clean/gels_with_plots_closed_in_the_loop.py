# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "scipy", "matplotlib"]
# thread = "Look-alike of the pyplot reports: the figure of each image is saved and closed in the function that made it"
# ///
# %%
import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.signal import find_peaks

rng = np.random.default_rng(77)
# %%
LANES = 8
H, W = 1100, 900


def gel(k):
    img = rng.normal(20, 2, (H, W))
    ys = np.sort(rng.integers(60, H - 60, 5))
    for lane in range(LANES):
        x0 = 40 + lane * 105
        for j, y0 in enumerate(ys):
            img[y0 - 5 : y0 + 6, x0 : x0 + 80] += 60 * (0.6 + 0.1 * j) * (lane % 3 != k % 3)
    return img


# %%
first = gel(0)
print(first.shape, first.max().round(1))
# %%
def lanes(img):
    for lane in range(LANES):
        x0 = 40 + lane * 105
        yield lane, img[:, x0 : x0 + 80].mean(1)


def bands(img, k):
    for lane, prof in lanes(img):
        pk, info = find_peaks(prof, height=40, distance=15)
        for y, h in zip(pk, info["peak_heights"]):
            yield {"gel": k, "lane": lane, "y": int(y), "height": float(h)}


# %%
def report(img, k):
    fig, (a, b) = plt.subplots(1, 2, figsize=(6, 3))
    a.imshow(img, cmap="gray_r", aspect="auto")
    for lane, prof in lanes(img):
        b.plot(prof + 50 * lane, lw=0.5)
    fig.savefig(f"gel{k}.png", dpi=80)
    plt.close(fig)


# %%
rows = []
for k in range(6):
    img = gel(k)
    rows += bands(img, k)
    report(img, k)
# %%
tab = pd.DataFrame(rows)
tab.groupby("gel").agg(n=("y", "size"), height=("height", "mean")).round(1)
# %%
empty = tab.pivot_table(index="gel", columns="lane", values="y", aggfunc="count").isna().sum(1)
print("empty lanes", empty.to_dict())
# %%
drift = tab.groupby(["gel", "lane"]).y.min().unstack().std(axis=1)
drift.round(2)
# %%
print(sorted(f for f in os.listdir(".") if f.startswith("gel"))[-1], plt.get_fignums())
