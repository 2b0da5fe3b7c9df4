# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "IPython issues of 2018 and 2020 on callbacks of post_run_cell, one that cannot be unregistered among them; that it closes over a frame is our own"
# leaked = "300000 * 12 * 8"
# cause_cell = 4
# cause_line = "before = frame.copy()"
# holder = ["get_ipython().events.callbacks['post_run_cell']", "post_run_cell", "events", "EventManager", "rows_lost"]
# repair = "cb = get_ipython().events.callbacks['post_run_cell']\ncb[:] = [f for f in cb if f.__name__ != 'rows_lost']"
# ///
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(99)
# %%
n = 300_000
age = rng.normal(48, 17, n)
items = rng.normal(3, 1.1, (n, 9)) + 0.01 * (age[:, None] - 48)
raw = pd.DataFrame(items, columns=[f"q{i}" for i in range(1, 10)])
raw.insert(0, "age", age)
raw["weight"] = rng.gamma(4, 0.25, n)
raw["minutes"] = rng.gamma(3, 4, n)
# %%
raw.describe().T.round(2)
# %%
lost = []


def count_from(frame):
    before = frame.copy()

    def rows_lost(result):
        df = get_ipython().user_ns.get("df")
        if df is not None:
            lost.append(len(before) - len(df))

    get_ipython().events.register("post_run_cell", rows_lost)


count_from(raw)
# %%
df = raw[(raw.age > 18) & (raw.age < 95)].reset_index(drop=True)
# %%
# speeders
df = df[df.minutes > 3].reset_index(drop=True)
del raw
# %%
q = [c for c in df.columns if c.startswith("q")]
df[q] = df[q].clip(1, 5)
straight = df[q].std(axis=1) < 0.15
df = df[~straight].reset_index(drop=True)
# %%
print("rows lost so far:", sorted(set(lost)))
# %%
corr = np.corrcoef(df[q].to_numpy().T)
ev = np.linalg.eigvalsh(corr)[::-1]
print("first factor explains", round(ev[0] / ev.sum(), 3))
# %%
df["band"] = pd.cut(df.age, [18, 30, 45, 60, 95])
tab = df.groupby("band", observed=True)[q].mean().round(2)
tab
# %%
fig, ax = plt.subplots()
tab.T.plot(ax=ax, marker="o", legend=True)
ax.set_ylabel("mean answer")
plt.close(fig)
# %%
w = df.weight / df.weight.sum()
print("weighted mean of the scale: %.3f, of %d people" % ((df[q].mean(axis=1) * w).sum(), len(df)))
