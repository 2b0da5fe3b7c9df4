# /// truth
# question = "reach"
# style = "long"
# needs = ["PIL", "numpy", "pandas", "matplotlib"]
# thread = "Look-alike of the matplotlib issues on figures that pyplot keeps until they are closed: an exit stack closes each of them at the end of its block"
# ///
# %% [markdown]
# # Contact sheet of river profiles
# %%
from contextlib import ExitStack

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image
# %%
def profile(k, n=400_000):
    r = np.random.default_rng(k)
    x = np.linspace(0, 60, n)
    return x, 900 * np.exp(-x / (18 + k)) + 4 * np.sin(x * (1 + k / 5)) + r.normal(0, 0.3, n)
# %%
rivers = ["Ahr", "Lenne", "Nidda", "Rur", "Sieg", "Wied"]
# %%
def panel(stack, k):
    fig, ax = plt.subplots(figsize=(2, 1.5), dpi=80)
    stack.callback(plt.close, fig)
    x, z = profile(k)
    ax.plot(x[::400], z[::400], lw=0.6)
    ax.set_title(rivers[k], fontsize=6)
    fig.canvas.draw()
    return Image.fromarray(np.asarray(fig.canvas.buffer_rgba())).convert("RGB")
# %%
with ExitStack() as stack:
    panels = [panel(stack, k) for k in range(6)]
    print(len(plt.get_fignums()), "open")
# %%
sheet = Image.new("RGB", (3 * 160, 2 * 120), "white")
for k, p in enumerate(panels):
    sheet.paste(p, (160 * (k % 3), 120 * (k // 3)))
sheet.save("sheet.png")
plt.get_fignums()
# %%
def numbers(k):
    x, z = profile(k)
    fall = -np.diff(z[::4_000]) / np.diff(x[::4_000])
    return {"river": rivers[k], "top": z[:100].mean(), "fall": fall.mean(), "steepest": fall.max()}


tab = pd.DataFrame([numbers(k) for k in range(6)]).set_index("river")
tab.round(2)
# %%
tab.corr().round(3).loc["top"].to_dict()
# %%
dark = [float(np.asarray(p.convert("L")).mean()) for p in panels]
print("mean grey of the panels", np.round(dark, 1))
# %%
half = {}
for k, name in enumerate(rivers):
    x, z = profile(k)
    half[name] = float(x[np.argmax(z < z[0] / 2)])
del x, z
# %%
order = sorted(half, key=half.get)
print("half of the height after", {n: round(half[n], 1) for n in order}, sheet.size)
