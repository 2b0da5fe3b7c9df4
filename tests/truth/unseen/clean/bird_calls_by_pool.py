# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "scipy", "pandas", "matplotlib"]
# thread = "GitHub, cpython, 2022: results of a thread pool stay with their futures; here each future is dropped when it was read and the pool is closed"
# ///
# %%
import gc
from concurrent.futures import ThreadPoolExecutor, as_completed
import numpy as np
import pandas as pd
from scipy.signal import spectrogram
# %%
FS = 22_050
species = ["wren", "robin", "blackcap", "chiffchaff"]
pitch = dict(zip(species, (5200, 3800, 3000, 4400)))
# %%
def clip(k):
    r = np.random.default_rng(k)
    name = species[k % 4]
    t = np.arange(FS * 8) / FS
    call = np.sin(2 * np.pi * (pitch[name] + 300 * np.sin(2 * np.pi * 6 * t)) * t)
    return name, (call * (np.sin(2 * np.pi * .7 * t) > .2) + r.normal(0, .4, t.size)).astype("f4")
# %%
def analyse(k):
    name, x = clip(k)
    f, t, S = spectrogram(x, FS, nperseg=1024, noverlap=768)
    return k, name, f, np.log1p(1e6 * S)
# %%
pool = ThreadPoolExecutor(2)
todo = {pool.submit(analyse, k) for k in range(24)}
rows = []
for fut in as_completed(list(todo)):
    todo.discard(fut)
    k, name, f, S = fut.result()
    rows.append((k, name, float(f[S.mean(axis=1).argmax()]), float(S.max()), float((S.sum(0) > S.sum(0).mean()).mean())))
# %%
pool.shutdown()
del fut, S, todo
gc.collect()
# %%
calls = pd.DataFrame(rows, columns=["clip", "species", "peak_hz", "loud", "active"]).set_index("clip").sort_index()
print(calls.head())
# %%
print(calls.groupby("species")[["peak_hz", "active"]].mean().round(2))
# %%
guess = calls["peak_hz"].map(lambda p: min(pitch, key=lambda s: abs(pitch[s] - p)))
hit = (guess == calls["species"]).mean()
hit
# %%
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
for s, d in calls.groupby("species"): ax.plot(d["peak_hz"], d["active"], "o", label=s)
ax.legend(); fig.savefig("calls.png"); plt.close(fig)
# %%
print(f"{len(calls)} clips, {hit:.0%} found by pitch alone")
