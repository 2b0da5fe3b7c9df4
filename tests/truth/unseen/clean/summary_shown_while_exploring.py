# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "Look-alike of the reports on the output cache: what is shown is a small table made from the large frame"
# ///
# %%
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
df = pd.DataFrame(rng.gamma(2.0, size=(400_000, 6)), columns=["ts", "temp", "hum", "wind", "rain", "sun"])
df["station"] = rng.integers(0, 12, len(df))
# %%
df.groupby("station").mean()
# %%
daily = df.groupby("station")["rain"].sum()
del df
daily.round(1)
