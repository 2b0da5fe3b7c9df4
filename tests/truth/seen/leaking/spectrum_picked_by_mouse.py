# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "scipy", "matplotlib"]
# thread = "matplotlib discourse and Stack Overflow, about 2016: mpl_connect in a cell that is run again, the event fires several times and the old callbacks keep their data"
# order = [1, 2, 3, 4, 5, 6, 7, 6, 7, 6, 6, 7, 8, 9, 10]
# leaked = "3 * 1024 * 1024 * 8"
# cause_cell = 6
# cause_line = "cube = sosfiltfilt"
# holder = ["fig", "fig.canvas", "callbacks", "mpl_connect", "on_pick", "canvas"]
# repair = "[fig.canvas.mpl_disconnect(c) for c in list(fig.canvas.callbacks.callbacks['pick_event'])[:-1]]"
# ///
# %% [markdown]
# # Line search in a spectrograph slit
# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import butter, find_peaks, sosfiltfilt

rng = np.random.default_rng(21)
# %%
ROWS, COLS = 1024, 1024
wave = np.linspace(480.0, 680.0, COLS)
lines = {"Hb": 486.1, "OIII": 500.7, "He": 587.6, "Ha": 656.3}
# %%
raw = rng.normal(0, 1.0, (ROWS, COLS))
for w0 in lines.values():
    profile = np.exp(-0.5 * ((wave - w0) / 0.7) ** 2)
    strength = 6 * np.exp(-0.5 * ((np.arange(ROWS) - 500) / 160) ** 2)
    raw += strength[:, None] * profile
raw.shape
# %% [markdown]
# Sky and dead rows
# %%
sky = np.median(raw[:80], axis=0)
raw -= sky
dead_rows = np.flatnonzero(np.abs(raw.mean(1)) > 3)
raw[dead_rows] = 0
# %%
fig, ax = plt.subplots(figsize=(5, 3))
(trace,) = ax.plot(wave, raw[500], lw=0.5, picker=3)
for name, w0 in lines.items():
    ax.axvline(w0, color="k", lw=0.3)
ax.set_xlabel("nm")
# %%
def make_picker(cutoff):
    sos = butter(3, cutoff, output="sos")
    cube = sosfiltfilt(sos, raw, axis=1)

    def on_pick(event):
        row = int(event.mouseevent.ydata or 500)
        trace.set_ydata(cube[row])
        fig.canvas.draw_idle()

    return on_pick, cube[480:520].mean(0)

cutoff = 0.12
on_pick, centre = make_picker(cutoff)
centre = centre.copy()
fig.canvas.mpl_connect("pick_event", on_pick)
# %%
trace.set_ydata(centre)
ax.relim()
ax.autoscale_view()
# %%
pk, props = find_peaks(centre, height=1.5, distance=20)
found = {n: wave[pk[np.abs(wave[pk] - w0).argmin()]] for n, w0 in lines.items()}
for n, w in found.items():
    print(f"{n:5s} {w:8.2f} {w - lines[n]:+.2f}")
# %%
shift = np.array([found[n] - lines[n] for n in lines])
velocity = 299_792.458 * shift / np.array(list(lines.values()))
print("v =", velocity.mean().round(1), "+-", velocity.std().round(1), "km/s")
# %%
width = {}
for n, w in found.items():
    sel = np.abs(wave - w) < 3
    y = np.clip(centre[sel], 0, None)
    width[n] = float(np.sqrt(np.average((wave[sel] - w) ** 2, weights=y + 1e-9)))
width
