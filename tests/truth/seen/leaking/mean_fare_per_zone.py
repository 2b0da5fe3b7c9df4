# /// truth
# question = "hides"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "pandas issue of 2023: a groupby object keeps the original DataFrame alive"
# leaked = "1_500_000 * (4 * 8 + 8)"     # four columns and the code of each row
# cause_cell = 1
# cause_line = "return pd.DataFrame("
# holder = ["by_zone"]
# repair = "del by_zone"
# ///
# %%
import numpy as np
import pandas as pd

def read_trips(n):
    r = np.random.default_rng(7)
    return pd.DataFrame({"zone": r.integers(0, 260, n), "km": r.random(n), "fare": r.random(n), "tip": r.random(n)})

by_zone = read_trips(1_500_000).groupby("zone")
fares = by_zone["fare"].mean()
# %%
fares.nlargest(3)
