# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "Stack Overflow and functools documentation on lru_cache, 2012 and later: a cache over twelve months fills once, and every later call is a hit"
# ///
# %% [markdown]
# # Sun on the roof, month by month
# %%
import functools
import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
# %%
def fill(path):
    rng = np.random.default_rng(70)
    with sqlite3.connect(path) as con:
        con.execute("drop table if exists sky")
        con.execute("create table sky (month integer, cloud blob)")
        for m in range(1, 13):
            cloud = rng.beta(2 + abs(m - 7) / 3, 2, (30, 24 * 60)).astype("float32")
            con.execute("insert into sky values (?, ?)", (m, cloud.tobytes()))
    con.close()


fill("sky.db")
# %%
@functools.lru_cache(maxsize=None)
def sky(month):
    con = sqlite3.connect("sky.db")
    (blob,) = con.execute("select cloud from sky where month = ?", (month,)).fetchone()
    con.close()
    return 1 - 0.7 * np.frombuffer(blob, dtype="float32").reshape(30, -1).repeat(2, axis=1)
# %%
def sun(month, tilt=30):
    minute = np.arange(0, 1440, 0.5)
    noon = np.clip(np.cos((minute - 720) / 1440 * 2 * np.pi * (1.2 - 0.05 * abs(month - 6))), 0, None)
    season = np.cos(np.radians(abs(month - 6) * 8 + 20 - tilt)).clip(0)
    return float((sky(month) * noon).sum() * season / 120)
# %%
hours = pd.Series({m: sun(m) for m in range(1, 13)})
hours.round(1).to_dict()
# %%
tilts = [0, 15, 30, 45, 60]
year = pd.Series({t: sum(sun(m, t) for m in range(1, 13)) for t in tilts})
print("best tilt", year.idxmax(), sky.cache_info())
# %%
winter = {t: sum(sun(m, t) for m in (11, 12, 1, 2)) for t in tilts}
print({t: round(v / year[t], 3) for t, v in winter.items()})
# %%
fig, ax = plt.subplots(figsize=(4, 2))
ax.bar(hours.index, hours)
fig.savefig("sun.png", dpi=60)
plt.close(fig)
# %%
dull = {m: int((sky(m).mean(1) < 0.5).sum()) for m in range(1, 13)}
print("dull days", dull)
# %%
swing = pd.Series({m: float(sky(m).mean(1).std()) for m in (3, 6, 9, 12)})
swing.round(4)
# %%
print(f"{year.max():.0f} h a year, {sky.cache_info().hits} look-ups without reading")
