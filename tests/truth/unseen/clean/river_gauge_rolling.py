# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "GitHub, pandas, 2023: groupby and rolling objects refer to their frame; here both are dropped together"
# ///
# %%
import numpy as np
import pandas as pd

idx = pd.date_range("2020-01-01", periods=1_500_000, freq="min")
gauge = pd.DataFrame({"level": np.random.default_rng(4).normal(2.1, .3, len(idx)), "temp": 8.0}, index=idx)
day = gauge.rolling(1440)
high = float(day["level"].mean().max())
# %%
del gauge, day, idx
print(round(high, 3))
