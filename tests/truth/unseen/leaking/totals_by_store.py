# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "GitHub, pandas, 2023: an object of groupby keeps the frame that it was made from alive after the frame was deleted"
# leaked = "2_000_000 * 4 * 8 + 2_000_000 * 8"
# cause_cell = 1
# cause_line = "df = pd.DataFrame("
# holder = ["by_store", "by_store.obj", "GroupBy", "groupby"]
# repair = "del by_store"
# ///
# %%
import gc
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
df = pd.DataFrame({"store": rng.integers(0, 40, 2_000_000), "units": rng.integers(1, 9, 2_000_000), "price": rng.random(2_000_000), "rebate": rng.random(2_000_000)})
by_store = df.groupby("store")
totals = by_store["units"].sum()
# %%
del df
gc.collect()
print(totals.head())
