# /// truth
# question = "hides"
# style = "long"
# needs = ["numpy", "pandas"]
# thread = "CPython issues on exceptions kept for a report; written as the docs advise, with the formatted traceback"
# ///
# %% [markdown]
# # Night run over all vibration sensors
# %%
import traceback

import numpy as np
import pandas as pd

rng = np.random.default_rng(12)
# %%
def record(i, n=300_000):
    x = rng.normal(size=(n, 3)) * (1 + i / 10)
    if i in (4, 9):
        x[100] = np.nan
    return x
# %%
def spectrum(x, k=64):
    return np.abs(np.fft.rfft(x[: len(x) // k * k].reshape(k, -1, 3), axis=0)).mean(axis=1)


def analyse(i):
    x = record(i)
    if not np.isfinite(x).all():
        raise ValueError(f"sensor {i}: {np.isnan(x).any(axis=1).sum()} broken samples")
    return {"rms": np.sqrt((x**2).mean()), "peak": np.abs(x).max(), "spec": spectrum(x)}
# %%
results, errors = {}, {}
for i in range(12):
    try:
        results[i] = analyse(i)
    except ValueError as e:
        errors[i] = {"msg": str(e), "where": traceback.format_exc(limit=-1)}
# %%
print(len(results), "ok,", len(errors), "failed")
# %%
df = pd.DataFrame({i: {"rms": r["rms"], "peak": r["peak"]} for i, r in results.items()}).T
df.round(2)
# %%
for i, e in errors.items():
    print(i, e["msg"], "|", e["where"].splitlines()[-1])
# %%
spec = np.stack([r["spec"] for r in results.values()])
spec.shape
# %%
dominant = spec[:, 1:, :].sum(axis=2).argmax(axis=1) + 1
df["dominant"] = dominant
# %%
slope = np.polyfit(df.index, df["rms"], 1)[0]
print(f"rms rises by {slope:.3f} a sensor")
# %%
df["crest"] = df["peak"] / df["rms"]
print(df["crest"].describe().round(2).to_dict())
# %%
print(f"{len(df)} sensors fine, check {sorted(errors)}, loudest {df['rms'].idxmax()}")
