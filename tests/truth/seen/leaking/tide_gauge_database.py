# /// truth
# question = "unused"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "python-cx_Oracle issue of 2019: what fetchall returned costs more than the frame that is made of it, and both are there"
# leaked = "150_000 * (8 + 64 + 3 * 32)"
# cause_cell = 5
# cause_line = "res = cur.fetchall()"
# holder = ["res"]
# repair = "del res"
# ///
# %%
import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
# %%
def fill(path, n=150_000):
    rng = np.random.default_rng(31)
    t = 1_600_000_000 + 600 * np.arange(n)
    h = 2 + 1.4 * np.sin(2 * np.pi * t / 44_714) + 0.4 * np.sin(2 * np.pi * t / 43_200) + rng.normal(0, 0.06, n)
    with sqlite3.connect(path) as con:
        con.execute("create table gauge (t integer, level real, pressure real)")
        con.executemany("insert into gauge values (?, ?, ?)", zip(t.tolist(), h.tolist(), rng.normal(1013, 8, n).tolist()))
    con.close()
# %%
fill("harbour.db")
# %%
con = sqlite3.connect("harbour.db")
con.execute("select count(*), min(level), max(level) from gauge").fetchone()
# %%
cur = con.execute("select t, level, pressure from gauge order by t")
res = cur.fetchall()
cols = [c[0] for c in cur.description]
df = pd.DataFrame(res, columns=cols)
con.close()
# %%
df["time"] = pd.to_datetime(df.t, unit="s")
df = df.set_index("time").drop(columns="t")
df.head(3).round(3)
# %%
A = np.column_stack([np.ones(len(df))] + [f(2 * np.pi * np.arange(len(df)) * 600 / p) for p in (44_714, 43_200) for f in (np.sin, np.cos)])
coef, *_ = np.linalg.lstsq(A, df.level.to_numpy())
df["rest"] = df.level - A @ coef
del A
# %%
amp = np.hypot(coef[1::2], coef[2::2])
print("M2 %.3f m, S2 %.3f m" % tuple(amp))
# %%
fig, ax = plt.subplots(figsize=(5, 2.5))
ax.plot(df.rest.resample("7D").mean())
fig.savefig("rest.png", dpi=60)
plt.close(fig)
# %%
surge = df[df.rest > 4 * df.rest.std()]
print(len(surge), "readings above 4 sigma, correlation with pressure", df.rest.corr(df.pressure).round(3))
# %%
monthly = df.level.resample("MS").agg(["mean", "max"])
monthly.tail(3).round(2)
