# /// truth
# question = "unused"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "Stack Overflow, 2014 and later, on local variables in DataFrame.query: a name that stands in the text behind an at sign is in use"
# ///
# %%
import numpy as np
import pandas as pd

n, rng = 600_000, np.random.default_rng(2)
trips = pd.DataFrame({"road": rng.integers(0, 50, n), "speed": rng.normal(70, 18, n), "night": rng.random(n) < 0.3})
limits = np.array([50.0, 70.0, 100.0])[trips.road % 3] + 3
# %%
trips.groupby("night").speed.mean().round(2)
# %%
trips.speed.quantile([0.5, 0.85]).round(1)
# %%
fast = trips.query("speed > @limits and night")
fast.groupby("road").size().nlargest(3)
# %%
rate = len(trips.query("speed > @limits + 20")) / n
print(f"{len(fast) / n:.2%} too fast at night, {rate:.2%} by far")
