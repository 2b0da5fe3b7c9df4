# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "scipy", "matplotlib"]
# thread = "Stack Overflow question of 2011: when to use cla, clf or close, a plot that is drawn again is cleared first"
# order = [1, 2, 3, 4, 5, 6, 7, 6, 7, 6, 7, 8, 9, 10]
# ///
# %% [markdown]
# # Tide gauge: how many constituents do I need?
# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import detrend, periodogram

rng = np.random.default_rng(17)
# %%
hours = np.arange(0, 24 * 365 * 2, 0.1)
periods = {"M2": 12.4206, "S2": 12.0, "N2": 12.6583, "K1": 23.9345, "O1": 25.8193}
amps = {"M2": 1.6, "S2": 0.5, "N2": 0.3, "K1": 0.12, "O1": 0.1}
# %%
level = sum(a * np.cos(2 * np.pi * hours / periods[k] + i) for i, (k, a) in enumerate(amps.items()))
level += 0.0001 * hours + 0.15 * rng.normal(size=len(hours))
gap = rng.random(len(hours)) < 0.01
level[gap] = np.nan
# %%
ok = ~np.isnan(level)
level = np.interp(hours, hours[ok], level[ok])
level = detrend(level)
level.std()
# %%
fig, (ax, ax_r) = plt.subplots(2, 1, figsize=(6, 4), sharex=True)
tried = {}
# %%
n_const = len(tried) + 1
names = list(periods)[:n_const]
cols = [f(2 * np.pi * hours / periods[k]) for k in names for f in (np.cos, np.sin)]
coef, *_ = np.linalg.lstsq(np.column_stack(cols), level, rcond=None)
fit = np.column_stack(cols) @ coef
tried[n_const] = float((level - fit).std())
# %%
ax.clear()
ax_r.clear()
ax.plot(hours, level, lw=0.3)
ax.plot(hours, fit, lw=0.3)
ax_r.plot(hours, level - fit, lw=0.3)
ax.set_title(f"{n_const} constituents")
fig.savefig("tide.png", dpi=60)
# %%
for k, v in tried.items():
    print(k, f"{v:.3f}")
plt.close(fig)
# %%
f, p = periodogram(level - fit, fs=10)
left = 1 / f[1:][p[1:].argmax()]
print(f"strongest left: {left:.2f} h")
# %%
high = np.flatnonzero((level[1:-1] > level[:-2]) & (level[1:-1] > level[2:]) & (level[1:-1] > 2.2))
{"rms": round(tried[max(tried)], 3), "spring highs": len(high)}
