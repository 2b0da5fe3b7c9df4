# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "Look-alike of the asyncpg pull request of 2021 and the uvloop one of 2019: each timer is cancelled when its answer is there, and the tasks are awaited"
# ///
# %% [markdown]
# # Buoys, asked all at once
# %%
import asyncio

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
# %%
BUOYS = {f"b{k}": 50 + 3 * k for k in range(8)}


def spectrum(seed, n=250_000):
    r = np.random.default_rng(seed)
    t = np.arange(n) * 0.5
    return np.sin(2 * np.pi * t / (6 + seed % 5)) + r.normal(0, 0.7, n)
# %%
late = []


def complain(name, got):
    late.append((name, len(got)))


async def ask(name, seed):
    got = []
    timer = asyncio.get_running_loop().call_later(900, complain, name, got)
    try:
        await asyncio.sleep(0.001 * (seed % 3))
        got.append(spectrum(seed))
        return name, got[0]
    finally:
        timer.cancel()
# %%
jobs = [asyncio.create_task(ask(name, seed)) for name, seed in BUOYS.items()]
waves = dict(await asyncio.gather(*jobs))
jobs.clear()
len(waves), late
# %%
height = pd.Series({k: 4 * w.std() for k, w in waves.items()})
height.round(3).to_dict()
# %%
def period(w):
    p = np.abs(np.fft.rfft(w[:200_000].reshape(100, -1), axis=1)).mean(0)
    return 1000 / (p[1:].argmax() + 1)


periods = pd.Series({k: period(w) for k, w in waves.items()})
periods.round(2).to_dict()
# %%
steep = height / (1.56 * periods**2)
print("steepest", steep.idxmax(), steep.max().round(4))
# %%
fig, ax = plt.subplots(figsize=(4, 2))
ax.plot(periods, height, "o")
fig.savefig("buoys.png", dpi=60)
plt.close(fig)
# %%
crest = pd.Series({k: np.abs(w).max() / w.std() for k, w in waves.items()})
crest.describe().round(2).to_dict()
# %%
pair = np.corrcoef(waves["b0"], waves["b5"])[0, 1]
print("b0 and b5", pair.round(4))
# %%
print(len(late), "late,", f"{sum(len(w) for w in waves.values())} readings, mean height {height.mean():.2f}")
