# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "Stack Overflow, 2016: memory of a sqlite database after close, and lru_cache on loaders; cursor, connection and cache are all given up"
# ///
# %%
import sqlite3, zlib
from functools import lru_cache
import numpy as np
import pandas as pd
# %%
rng = np.random.default_rng(31)
branches = ["centre", "north", "harbour"]
def scans(branch):
    """Covers as they came from the scanner, 30 for each branch."""
    return [rng.integers(0, 256, 200_000, dtype="u1").tobytes() for _ in range(30)]
# %%
db = sqlite3.connect(":memory:")
db.execute("create table loan (branch text, day int, n int)")
db.execute("create table cover (branch text, img blob)")
for b in branches:
    db.executemany("insert into loan values (?, ?, ?)", [(b, d, int(rng.poisson(80 + 20 * (d % 7 > 4)))) for d in range(365)])
    db.executemany("insert into cover values (?, ?)", [(b, s) for s in scans(b)])
db.commit()
# %%
cur = db.execute("select branch, count(*), sum(length(img)) from cover group by branch")
cur.fetchall()
# %%
@lru_cache(maxsize=4)
def covers(branch):
    return np.array([np.frombuffer(r[0], "u1") for r in db.execute("select img from cover where branch = ?", (branch,))])
# %%
tone = {b: covers(b).mean(axis=1) for b in branches}
twins = {b: len({zlib.crc32(c) for c in covers(b)}) for b in branches}
twins
# %%
loans = pd.read_sql("select * from loan", db)
cur.close(); db.close()
covers.cache_clear()
del cur, db
# %%
loans["weekday"] = loans["day"] % 7
week = loans.pivot_table("n", "weekday", "branch")
week.round(1)
# %%
quiet = week.stack().idxmin()
busy = week.stack().idxmax()
quiet, busy
# %%
import matplotlib.pyplot as plt
week.plot(); plt.savefig("week.png"); plt.close("all")
# %%
print({b: float(t.mean().round(1)) for b, t in tone.items()}, "busiest:", busy)
