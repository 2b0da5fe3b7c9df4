# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "matplotlib", "pandas"]
# thread = "GitHub, matplotlib, 2017: figures that were closed stay in memory as long as somebody has the object"
# leaked = "6 * (1600 * 900 * 8 + 640 * 480 * 4)"
# cause_cell = 6
# cause_line = "ax.imshow("
# holder = ["pages", "figures", "Figure", "pages[0]"]
# repair = "pages.clear(); del fig, ax, im"
# ///
# %%
import gc
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
# %%
fs = 16_000
runs = {f"run{k}": 900 + 75 * k for k in range(6)}
rng = np.random.default_rng(11)
# %%
def measure(rpm, seconds=45):
    t = np.arange(fs * seconds) / fs
    mesh = rpm / 60 * 23
    x = np.sin(2 * np.pi * mesh * t) + .3 * np.sin(4 * np.pi * mesh * t + 1)
    return x + .2 * rng.normal(size=t.size)
# %%
def frames(x, width=1800, count=1600):
    step = (x.size - width) // (count - 1)
    idx = np.arange(count)[:, None] * step + np.arange(width)
    return x[idx] * np.hanning(width)
# %%
def level(x):
    s = np.abs(np.fft.rfft(frames(x), axis=1))[:, :900]
    return 20 * np.log10(s + 1e-6)
# %%
pages = []
rows = []
for name, rpm in runs.items():
    S = level(measure(rpm))
    fig, ax = plt.subplots()
    im = ax.imshow(S.T, aspect="auto", origin="lower", vmin=-20, vmax=60)
    ax.set_title(f"{name} ({rpm} rpm)")
    pages.append(fig)
    rows.append({"run": name, "rpm": rpm, "peak": int(S.mean(axis=0).argmax()), "noise": float(np.median(S))})
# %%
for f, name in zip(pages, runs):
    f.savefig(f"{name}.png")
# %%
plt.close("all")
del S, f
gc.collect()
# %%
tab = pd.DataFrame(rows).set_index("run")
tab
# %%
tab["mesh_hz"] = tab["rpm"] / 60 * 23
tab["peak_hz"] = tab["peak"] * fs / 1800
(tab["peak_hz"] - tab["mesh_hz"]).abs().max()
# %%
ok = (tab["peak_hz"] - tab["mesh_hz"]).abs() < 10
print(ok.sum(), "of", len(ok), "runs fit the gear count")
