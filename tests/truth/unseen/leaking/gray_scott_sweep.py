# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "matplotlib", "pandas"]
# thread = "Stack Overflow question of about 2012: a list defined in the class body is shared by all instances and grows with each of them, found in a simulation"
# leaked = "9 * 12 * 160 * 160 * 8"
# cause_cell = 3
# cause_line = "self.frames.append(self.v.copy())"
# holder = ["GrayScott", "GrayScott.frames", "frames"]
# repair = "GrayScott.frames.clear()"
# ///
# %% [markdown]
# # Gray-Scott patterns: sweep over feed and kill
# %%
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
# %%
def laplace(a):
    return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a
# %%
class GrayScott:
    frames = []

    def __init__(self, feed, kill, n=160, seed=0):
        rng = np.random.default_rng(seed)
        self.feed, self.kill = feed, kill
        self.u = np.ones((n, n))
        self.v = 0.02 * rng.random((n, n))
        m = n // 2
        self.u[m - 8 : m + 8, m - 8 : m + 8] = 0.5
        self.v[m - 8 : m + 8, m - 8 : m + 8] = 0.25

    def step(self):
        uvv = self.u * self.v * self.v
        self.u += 0.16 * laplace(self.u) - uvv + self.feed * (1 - self.u)
        self.v += 0.08 * laplace(self.v) + uvv - (self.feed + self.kill) * self.v

    def run(self, steps, every=20):
        for i in range(steps):
            self.step()
            if i % every == 0:
                self.frames.append(self.v.copy())
        return self.v
# %%
feeds, kills = [0.022, 0.035, 0.05], [0.051, 0.06, 0.065]
grid = list(itertools.product(feeds, kills))
len(grid)
# %%
finals, rows = {}, []
for f, k in grid:
    v = GrayScott(f, k).run(240)
    finals[f, k] = v.astype(np.float32)[::2, ::2]
    rows.append({"feed": f, "kill": k, "mean": v.mean(), "std": v.std(), "edge": np.abs(laplace(v)).mean()})
# %%
table = pd.DataFrame(rows)
table["kind"] = np.select([table["mean"] < 0.01, table.edge > 0.01], ["empty", "pattern"], "smooth")
table.round(4)
# %%
fig, axes = plt.subplots(3, 3, figsize=(5, 5))
for a, ((f, k), v) in zip(axes.flat, finals.items()):
    a.imshow(v, cmap="cubehelix")
    a.set_title(f"{f} {k}", fontsize=6)
    a.axis("off")
fig.savefig("sweep.png", dpi=60)
plt.close(fig)
# %% [markdown]
# Which length do the patterns have?
# %%
def wavelength(v):
    p = np.abs(np.fft.rfft2(v - v.mean())) ** 2
    ky = np.fft.fftfreq(v.shape[0])[:, None]
    kx = np.fft.rfftfreq(v.shape[1])[None]
    kr = np.hypot(kx, ky)
    return float(1 / (np.sum(kr * p) / np.sum(p)))

table["length"] = [wavelength(finals[f, k]) for f, k in grid]
# %%
pivot = table.pivot(index="feed", columns="kill", values="length")
print(pivot.round(1))
# %%
pick = table.sort_values("edge").iloc[-1]
print(f"most structure at feed={pick.feed}, kill={pick.kill}")
# %%
table.groupby("kind")[["std", "length"]].mean().round(3)
