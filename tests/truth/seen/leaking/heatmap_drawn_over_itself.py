# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy", "matplotlib"]
# thread = "Stack Overflow question of about 2015: imshow in a loop gets slower and the memory rises, the answer says that every call adds another image to the axes"
# order = [1, 2, 3, 3, 3, 3]
# leaked = "3 * 1000 * 1200 * 8"
# cause_cell = 3
# cause_line = "ax.imshow(heat"
# holder = ["ax", "fig", "ax.images"]
# repair = "[im.remove() for im in list(ax.images)[:-1]]"
# ///
# %%
import numpy as np
import matplotlib.pyplot as plt

rng = np.random.default_rng(0)
fig, ax = plt.subplots(figsize=(4, 3))
# %%
def smooth(n):
    f = rng.normal(size=(1000, 1200))
    for _ in range(n):
        f = (f + np.roll(f, 1, 0) + np.roll(f, 1, 1)) / 3
    return f
# %%
heat = smooth(4)
ax.imshow(heat, cmap="magma")
ax.set_title(f"max {heat.max():.2f}")
print(heat.std())
