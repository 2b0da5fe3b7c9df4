# /// truth
# question = "unused"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "GitHub, govuk taxonomy, 2018, and Stack Overflow on the number of frames: the table as it was read stays beside the cleaned one"
# leaked = "500_000 * 4 * 8"
# cause_cell = 1
# cause_line = "raw = pd.DataFrame({"
# holder = ["raw"]
# repair = "del raw"
# ///
# %%
import numpy as np
import pandas as pd

n, rng = 500_000, np.random.default_rng(3)
raw = pd.DataFrame({
    "minute": np.arange(n),
    "wind": rng.weibull(2, n) * 8,
    "power": rng.normal(900, 400, n),
    "pitch": rng.normal(2, 1, n),
})
# %%
df = raw[(raw.power > 0) & raw.wind.between(3, 25)].reset_index(drop=True)
df["power"] = df.power.clip(upper=2000)
print(f"{1 - len(df) / len(raw):.1%} of the minutes left out")
# %%
curve = df.groupby(df.wind.round()).power.agg(["mean", "size"])
curve.head().round(1)
# %%
print("capacity", df.power.mean() / 2000, "corr with pitch", df.power.corr(df.pitch))
