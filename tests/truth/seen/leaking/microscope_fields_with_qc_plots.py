# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "scipy", "matplotlib"]
# thread = "matplotlib mailing list on the importance of close, and an alphalens pull request of 2017: pyplot has a reference to each figure until it is closed"
# leaked = "8 * (1000 * 1000 * 8 + 400 * 300 * 4 + 231 * 231 * 4)"
# cause_cell = 5
# cause_line = "ax.imshow(flat, cmap="
# holder = ["matplotlib._pylab_helpers.Gcf.figs", "Gcf", "Gcf.figs", "pyplot", "plt", "figure"]
# repair = "import matplotlib.pyplot as plt; plt.close('all')"
# ///
# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy import ndimage as ndi

np.random.seed(11)
# %%
SIZE = 1000
FIELDS = [f"{row}{col}" for row in "AB" for col in range(1, 5)]


def acquire(field):
    """stand-in for the microscope: spots on an uneven background"""
    img = np.random.normal(100, 3, (SIZE, SIZE))
    yy, xx = np.mgrid[0:SIZE:1, 0:SIZE:1]
    img += 20 * np.exp(-((yy - 550) ** 2 + (xx - 500) ** 2) / 4e5)
    n = np.random.poisson(60)
    pos = np.random.randint(20, SIZE - 20, (n, 2))
    for y, x in pos:
        img[y - 4 : y + 5, x - 4 : x + 5] += 80
    return img, n


# %%
def flatten(img):
    bg = ndi.zoom(ndi.uniform_filter(img[::10, ::10], 15), 10, order=1)
    return img - bg


# %%
def count_spots(flat, thr=35.0):
    lab, n = ndi.label(ndi.uniform_filter(flat, 5) > thr)
    sizes = np.bincount(lab.ravel())[1:]
    return int((sizes > 15).sum()), float(np.median(sizes))


# %%
def qc_plot(field, flat, n):
    fig, ax = plt.subplots(figsize=(4, 3))
    ax.imshow(flat, cmap="magma", vmin=-10, vmax=80)
    ax.set_title(f"{field}: {n} spots", fontsize=8)
    ax.axis("off")
    fig.savefig(f"qc_{field}.png")


# %%
rows = []
for field in FIELDS:
    img, truth = acquire(field)
    flat = flatten(img)
    n, area = count_spots(flat)
    qc_plot(field, flat, n)
    rows.append(dict(field=field, spots=n, area=area, truth=truth, bg=float(np.median(img))))
del img, flat
# %%
res = pd.DataFrame(rows).set_index("field")
res
# %%
res["err"] = res.spots - res.truth
print("mean error %.2f, worst %d" % (res.err.mean(), res.err.abs().max()))
# %%
res["row"] = res.index.str[0]
print(res.groupby("row")[["spots", "area"]].agg(["mean", "std"]).round(1))
# %%
import os

print(sorted(f for f in os.listdir(".") if f.startswith("qc_"))[:3], "...")
