# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy", "scipy"]
# thread = "Stack Overflow question of about 2014: is a module level dict as a memo a memory leak, the answer says not where the keys are few"
# ///
# %%
import numpy as np
from scipy.signal import fftconvolve

rng = np.random.default_rng(0)
_filters = {}
# %%
def wavelet(scale):
    if scale not in _filters:
        t = np.linspace(-8, 8, 200_000)
        _filters[scale] = np.exp(-((t * scale) ** 2) / 2) * np.cos(5 * t * scale)
    return _filters[scale]
# %%
power = np.zeros((40, 6))
for trial in range(40):
    sig = rng.normal(size=20_000)
    for k, scale in enumerate((1, 2, 4, 8, 16, 32)):
        power[trial, k] = fftconvolve(sig, wavelet(scale)[::50], mode="same").var()
# %%
print(power.mean(0).round(2), len(_filters))
