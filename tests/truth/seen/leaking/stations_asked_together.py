# /// truth
# question = "hides"
# style = "long"
# needs = ["numpy", "pandas"]
# thread = "aiohttp issue of 2021 and asyncio questions: the list of tasks keeps every task, its result with it, although all are done"
# leaked = "9 * 500_000 * 8"
# cause_cell = 3
# cause_line = "temp = r.normal("
# holder = ["jobs"]
# repair = "jobs.clear()"
# ///
# %% [markdown]
# # Heat days at nine stations
# %%
import asyncio

import numpy as np
import pandas as pd
# %%
STATIONS = ["Arosa", "Basel", "Bern", "Chur", "Davos", "Genf", "Lugano", "Sion", "Zug"]
HEIGHT = pd.Series([1878, 316, 553, 556, 1594, 412, 273, 482, 425], index=STATIONS)
HEIGHT.describe().round(0)
# %%
async def ask(station):
    await asyncio.sleep(0.01)
    r = np.random.default_rng(len(station) * 100 + ord(station[1]))
    temp = r.normal(16 - HEIGHT[station] / 180, 7, 500_000)
    return {"station": station, "temp": temp, "status": 200}


async def collect(jobs):
    out = {}
    for station, job in jobs.items():
        rec = await job
        t = rec["temp"]
        out[station] = [t.mean(), t.max(), (t > 30).mean() * 365, rec["status"]]
    return out
# %%
jobs = {s: asyncio.create_task(ask(s)) for s in STATIONS}
summary = await collect(jobs)
# %%
df = pd.DataFrame(summary, index=["mean", "max", "heat_days", "status"]).T
df.round(1)
# %%
assert (df["status"] == 200).all()
df = df.drop(columns="status").join(HEIGHT.rename("m"))
# %%
slope, icept = np.polyfit(df["m"], df["mean"], 1)
print(f"{slope * 100:.2f} degrees per 100 m")
# %%
df["expected"] = icept + slope * df["m"]
df["diff"] = (df["mean"] - df["expected"]).round(2)
df.sort_values("diff")
# %%
low = df[df["m"] < 600]
print("heat days below 600 m:", low["heat_days"].round(1).to_dict())
# %%
rank = df["heat_days"].rank(ascending=False).astype(int)
rank.sort_values().head(3)
# %%
print(f"hottest {df['max'].idxmax()}, coolest {df['mean'].idxmin()}, {len(df)} stations")
