# /// truth
# question = "hides"
# style = "short"
# needs = ["numpy"]
# thread = "CPython issue of 2017 about caught and stored exceptions: their tracebacks keep the locals of every frame"
# leaked = "4 * 500_000 * 2 * 8"
# cause_cell = 1
# cause_line = "raw = rng.normal("
# holder = ["errs"]
# repair = "for e in errs.values(): e.__traceback__ = None"
# ///
# %%
import numpy as np

rng = np.random.default_rng(0)

def fit_sensor(i):
    raw = rng.normal(size=(500_000, 2))
    if i % 2:
        raise ValueError(f"sensor {i}: no calibration")
    return raw.mean(axis=0)

ok, errs = {}, {}
for i in range(8):
    try:
        ok[i] = fit_sensor(i)
    except ValueError as e:
        errs[i] = e
# %%
print(sorted(ok), "failed:", [str(e) for e in errs.values()])
