# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas"]
# thread = "Look-alike of the reports on callbacks of the shell: the pair of callbacks is unregistered at the end, only numbers remain"
# ///
# %%
import time

import numpy as np
import pandas as pd

rng = np.random.default_rng(3)
ip = get_ipython()
# %%
class CellTimes:
    def __init__(self):
        self.rows = []

    def start(self, info):
        self.t0 = time.perf_counter()

    def stop(self, result):
        if hasattr(self, "t0"):
            self.rows.append(time.perf_counter() - self.t0)

    def attach(self):
        ip.events.register("pre_run_cell", self.start)
        ip.events.register("post_run_cell", self.stop)

    def detach(self):
        ip.events.unregister("pre_run_cell", self.start)
        ip.events.unregister("post_run_cell", self.stop)


times = CellTimes()
times.attach()
# %%
n = 250_000
trips = pd.DataFrame({"start": rng.integers(0, 1440, n), "km": rng.gamma(2, 2.5, n), "zone": rng.integers(0, 40, n)})
trips["fare"] = 3 + 1.8 * trips.km + rng.normal(0, 1, n)
# %%
trips = trips[(trips.fare > 3) & (trips.km > 0.2)]
trips["hour"] = trips.start // 60
# %%
wide = trips.pivot_table(index="zone", columns="hour", values="fare", aggfunc="mean")
wide.iloc[:4, :6].round(1)
# %%
tip = trips.fare.to_numpy() * rng.beta(2, 10, len(trips))
trips["tip"] = tip
print(trips.tip.mean().round(3))
# %%
A = np.c_[np.ones(len(trips)), trips.km, trips.hour]
coef, *_ = np.linalg.lstsq(A, trips.fare, rcond=None)
print(coef.round(3))
# %%
boot = []
for _ in range(5):
    idx = rng.integers(0, len(A), len(A))
    boot.append(np.linalg.lstsq(A[idx], trips.fare.to_numpy()[idx], rcond=None)[0])
print(np.std(boot, axis=0).round(4))
# %%
times.detach()
print(len(times.rows), "cells,", round(max(times.rows), 1), "s at most")
# %%
zone = trips.groupby("zone").agg(n=("km", "size"), tip=("tip", "mean"))
zone.nlargest(3, "tip").round(2)
