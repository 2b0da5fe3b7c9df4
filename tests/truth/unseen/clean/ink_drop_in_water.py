# /// truth
# question = "unused"
# style = "long"
# needs = ["numpy", "scipy", "pandas", "matplotlib"]
# thread = "Look-alike of GitHub, hippynn, 2025, on names behind their loop: what the loop leaves in its variables is the state that the next cells go on with"
# ///
# %% [markdown]
# # A drop of ink: diffusion on a grid
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.ndimage import laplace
# %%
N, dt = 1100, 0.2
yy, xx = np.mgrid[:N, :N].astype("float32")
start = np.exp(-((xx - 400) ** 2 + (yy - 560) ** 2) / 800).astype("float32")
del yy, xx
# %%
def mass(u):
    return float(u.sum(dtype="float64"))


def radius(u):
    w = u.sum(0, dtype="float64")
    x = np.arange(len(w))
    m = (w * x).sum() / w.sum()
    return float(np.sqrt((w * (x - m) ** 2).sum() / w.sum()))
# %%
log = []
u = start.copy()
for step in range(20):
    before = u
    u = before + dt * laplace(before, mode="nearest")
    log.append((step, mass(u), radius(u)))
# %%
tab = pd.DataFrame(log, columns=["step", "mass", "radius"])
tab.tail(3).round(4)
# %%
change = np.abs(u - before).max()
print("largest change of the last step", change)
# %%
theory = np.sqrt(tab.radius[0] ** 2 + 2 * dt * tab.step)
print("off by", np.abs(theory - tab.radius).max().round(5))
# %%
fig, ax = plt.subplots(figsize=(3, 3))
ax.imshow(u[::5, ::5])
fig.savefig("ink.png", dpi=60)
plt.close(fig)
# %% [markdown]
# Twice as fast from here on, does it stay stable?
# %%
v = u
for step in range(8):
    v = v + 2 * dt * laplace(v, mode="nearest") / 2
print(mass(v) - mass(u), radius(v))
# %%
rows = {"start": start, "u": u, "v": v}
pd.DataFrame({k: [mass(a), radius(a), float(a.max())] for k, a in rows.items()}, ["mass", "radius", "peak"]).round(3)
# %%
print("still the last step:", float((u - before).std()), "and the drop at", np.unravel_index(v.argmax(), v.shape))
