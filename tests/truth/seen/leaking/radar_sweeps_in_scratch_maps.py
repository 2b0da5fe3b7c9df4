# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "NumPy issues of 2017 and 2022 and a CPython issue of 2024 on mmap: it cannot be closed while an array looks into it, and who ignores the error has the map"
# leaked = "5 * 8 * 360 * 2500"
# cause_cell = 4
# cause_line = "near[k] = sweep[:, :40]"
# holder = ["near", "mmap", "memoryview"]
# repair = "near = {k: a.copy() for k, a in near.items()}"
# ///
# %% [markdown]
# # Rain radar, five sweeps
# %%
import contextlib
import mmap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
# %%
AZ, GATES = 360, 2500

def scratch():
    mm = mmap.mmap(-1, AZ * GATES * 8)
    return mm, np.frombuffer(mm, dtype="f8").reshape(AZ, GATES)


def give_back(mm):
    with contextlib.suppress(BufferError):
        mm.close()
# %%
def read_sweep(k, into):
    r = np.random.default_rng(k)
    into[:] = r.gamma(1.2, 4.0, (AZ, GATES))
    into[:, :40] += 12 + r.normal(0, 1, (AZ, 40))
    into[40 * k : 40 * k + 30, 900:1300] += 25
# %%
near = {}


def one_sweep(k):
    mm, sweep = scratch()
    read_sweep(k, sweep)
    near[k] = sweep[:, :40]
    rain = sweep > 30
    row = {"sweep": k, "share": rain.mean(), "gate": rain.sum(0).argmax(), "az": rain.sum(1).argmax()}
    del sweep
    give_back(mm)
    return row
# %%
tab = pd.DataFrame([one_sweep(k) for k in range(5)]).set_index("sweep")
tab.round(4)
# %%
moved = np.diff(tab["az"])
print("moves by", moved, "degrees a sweep")
# %% [markdown]
# Ground echoes: what the first gates see does not change.
# %%
ground = pd.DataFrame({k: a.mean(0) for k, a in near.items()})
ground.iloc[:4].round(2)
# %%
print("spread between sweeps", ground.std(axis=1).max().round(3))
# %%
fig, ax = plt.subplots(figsize=(4, 2.5))
ax.plot(ground.mean(axis=1))
fig.savefig("ground.png", dpi=60)
plt.close(fig)
# %%
total = tab["share"] * AZ * GATES * 0.01
total.cumsum().round(1)
# %%
print(f"wettest sweep {tab['share'].idxmax()}, gate {tab['gate'].mode()[0]}, {total.sum():.0f} units in all")
