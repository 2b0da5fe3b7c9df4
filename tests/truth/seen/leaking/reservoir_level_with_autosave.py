# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "uvloop and asyncpg pull requests, 2019 and 2021: a timer of call_later that nobody cancels has the arguments of its callback until it is due"
# leaked = "9 * 8 * 700 * 900"
# cause_cell = 3
# cause_line = "asyncio.get_running_loop().call_later("
# holder = ["call_later", "TimerHandle", "_scheduled", "asyncio", "event loop", "timer"]
# repair = "import asyncio\nfor timer in list(asyncio.get_running_loop()._scheduled):\n    if timer._callback is save:\n        timer.cancel()"
# ///
# %% [markdown]
# # Ground water below the reservoir
# %%
import asyncio
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
# %%
H, W = 700, 900
rng = np.random.default_rng(15)
level = 40 + rng.normal(0, 0.2, (H, W))
level[:, :40] = 55.0
conduct = rng.lognormal(0, 0.2, (H - 2, W - 2)).clip(0.4, 1.6)
# %% [markdown]
# Written to disk a while after a change, so that the slow share is not in the way.
# %%
folder = Path("states")


def save(step, state):
    folder.mkdir(exist_ok=True)
    np.save(folder / f"{step:03d}.npy", state)


async def autosave(step, state, after=1800.0):
    asyncio.get_running_loop().call_later(after, save, step, state)
# %%
def relax(u, sweeps=3):
    v = u.copy()
    for _ in range(sweeps):
        lap = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * v[1:-1, 1:-1]
        v[1:-1, 1:-1] += 0.2 * conduct * lap
    return v
# %%
trace = []
for step in range(9):
    level = relax(level)
    await autosave(step, level.copy())
    trace.append((step, level[:, 60].mean(), level.std()))
# %%
tab = pd.DataFrame(trace, columns=["step", "near", "std"]).set_index("step")
tab.round(4)
# %%
gain = tab.near.diff().dropna()
print("rise of the last step", gain.iloc[-1].round(5), "of the first", gain.iloc[0].round(5))
# %%
fig, ax = plt.subplots(figsize=(4, 3))
ax.imshow(level[::5, ::5])
fig.savefig("level.png", dpi=60)
plt.close(fig)
# %%
front = (level > 41).sum(1)
print("front at column", front.mean(), "+-", front.std())
# %%
flow = np.abs(np.diff(level, axis=1)).mean(0)
pd.Series(flow).rolling(50).mean().dropna().iloc[::200].round(4)
# %%
print("steps", len(tab), "level at the wells", level[[100, 350, 600], 300].round(2))
