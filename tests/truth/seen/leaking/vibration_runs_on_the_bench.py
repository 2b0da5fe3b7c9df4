# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "scipy", "matplotlib"]
# thread = "nessrest issue of 2016, EasyProcess issue of 2011 and marker issue of 2024: what is registered with atexit is there until the process ends, and so are its arguments"
# leaked = "6 * 8 * 3 * 200_000"
# cause_cell = 4
# cause_line = "atexit.register(finish, name, data)"
# holder = ["atexit", "finish", "atexit.register"]
# repair = "atexit.unregister(finish)"
# ///
# %% [markdown]
# # Six runs on the shaker
# %%
import atexit
import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.signal import welch
# %%
FS = 5_000
out = Path(tempfile.mkdtemp(dir="."))
runs = {"r1": 31, "r2": 34, "r3": 38, "r4": 41, "r5": 47, "r6": 52}
# %%
def finish(name, data):
    """a run that was not closed by hand gets its summary when the program ends"""
    if out.exists() and not (out / f"{name}.json").exists():
        (out / f"{name}.json").write_text(json.dumps({"rms": float(data.std()), "n": data.shape[1]}))
# %%
def record(name, hz, n=200_000):
    r = np.random.default_rng(hz)
    data = r.normal(0, 0.4, (3, n))
    data += np.array([[1.0], [0.5], [0.1]]) * np.sin(2 * np.pi * hz * np.arange(n) / FS)
    atexit.register(finish, name, data)
    return data


def close(name, data):
    finish(name, data)
    return data.std(1)
# %%
def measure(name, hz):
    data = record(name, hz)
    f, p = welch(data, FS, nperseg=5_000)
    rms = close(name, data)
    return {"run": name, "set": hz, "peak": f[p[0].argmax()], "x": rms[0], "y": rms[1], "z": rms[2]}
# %%
tab = pd.DataFrame([measure(name, hz) for name, hz in runs.items()]).set_index("run")
tab.round(3)
# %%
off = (tab.peak - tab.set).abs()
print("largest deviation", off.max(), "Hz in", off.idxmax())
# %%
tilt = np.degrees(np.arctan2(tab.y, tab.x))
tilt.round(1).to_dict()
# %%
fig, ax = plt.subplots(figsize=(4, 2.5))
tab[["x", "y", "z"]].plot(ax=ax, marker="o")
fig.savefig("runs.png", dpi=60)
plt.close(fig)
# %%
notes = sorted(p.name for p in out.glob("*.json"))
print(len(notes), "summaries,", notes[0], json.loads((out / notes[0]).read_text()))
# %%
slope, base = np.polyfit(tab.set, tab.x, 1)
print(f"x grows by {slope * 1000:.3f} per 1000 Hz from {base:.3f}")
