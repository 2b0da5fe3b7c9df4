# /// truth
# question = "unused"
# style = "short"
# needs = ["numpy", "scipy", "matplotlib"]
# thread = "Stack Overflow questions on masked copies for imshow, about 2013 to 2017, and pull requests that delete intermediate arrays after the plot"
# leaked = "8 * 1600 * 1800"
# cause_cell = 3
# cause_line = "shown = np.where("
# holder = ["shown"]
# repair = "del shown"
# ///
# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

def draw(a, name):
    fig, ax = plt.subplots(figsize=(4, 3))
    ax.imshow(a, cmap="viridis")
    fig.savefig(name, dpi=60)
    plt.close(fig)
# %%
depth = 4000 + 900 * gaussian_filter(np.random.default_rng(5).normal(size=(1600, 1800)), 6)
depth.min(), depth.max()
# %%
shown = np.where(np.abs(depth - depth.mean()) > 2 * depth.std(), np.nan, depth)
draw(shown, "floor.png")
# %%
slope = np.hypot(np.diff(depth[:, :-1], axis=0), np.diff(depth[:-1], axis=1))
print("steepest", np.unravel_index(slope.argmax(), slope.shape), slope.mean())
# %%
draw(slope[::4, ::4], "slope.png")
print(np.percentile(depth, [5, 50, 95]).round())
