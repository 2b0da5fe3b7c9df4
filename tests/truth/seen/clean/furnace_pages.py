# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "pandas", "tqdm", "matplotlib"]
# thread = "GitHub, matplotlib, 2017, and tqdm, 2021: figures and bars in a loop over large data; closed, and no list has them"
# ///
# %% [markdown]
# # Furnace camera, one page for each shift
# %%
import gc
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
from tqdm.auto import trange
# %%
H, W = 300, 400
yy, xx = np.mgrid[:H, :W]
hot = np.exp(-((yy - 140) ** 2 / 6000 + (xx - 220) ** 2 / 9000))
# %%
def shift(k, n=60):
    r = np.random.default_rng(100 + k)
    drift = 1 + .02 * k + .05 * np.sin(np.linspace(0, 6, n))
    return (900 + 650 * hot[None] * drift[:, None, None] + r.normal(0, 6, (n, H, W))).astype("f4")
# %%
def page(k, mean, spread):
    fig, axs = plt.subplots(1, 2, figsize=(8, 3))
    for ax, img, name in zip(axs, (mean, spread), ("mean", "spread")):
        ax.imshow(img); ax.set_title(f"shift {k}: {name}"); ax.axis("off")
    path = f"shift_{k}.png"
    fig.savefig(path, dpi=50)
    plt.close(fig)
    return path
# %%
pages, rows = [], []
bar = trange(5, desc="shifts")
for k in bar:
    film = shift(k)
    mean, spread = film.mean(0), film.std(0)
    pages.append(page(k, mean, spread))
    rows.append((k, film.max(), mean[120:160, 200:240].mean(), spread.mean()))
bar.close()
# %%
del film, mean, spread, bar
plt.close("all")
gc.collect()
# %%
t = pd.DataFrame(rows, columns=["shift", "max", "core", "spread"]).set_index("shift").astype(float)
t.round(1)
# %%
slope, at0 = np.polyfit(t.index, t["core"], 1)
slope.round(2)
# %%
t["over"] = t["core"] - (at0 + slope * t.index)
t["over"].abs().max() < 5
# %%
ax = t["core"].plot(marker="o"); ax.figure.savefig("trend.png"); plt.close(ax.figure)
del ax
# %%
print(len(pages), "pages; the core gets", f"{slope:.1f} K hotter each shift")
