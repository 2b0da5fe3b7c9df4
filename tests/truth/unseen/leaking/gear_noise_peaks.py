# /// truth
# question = "unused"
# style = "short"
# needs = ["numpy"]
# thread = "CPython issue of 2022: variables of loops at module level stay after the loop and should be deleted; here they are long recordings"
# leaked = "8 * 2_000_000 + 8 * 200 * 5001"
# cause_cell = 2
# cause_line = "x = recording(k)"
# holder = ["x", "S"]
# repair = "del x, S"
# ///
# %%
import numpy as np

FS = 20_000
def recording(k, n=2_000_000):
    t = np.arange(n) / FS
    return np.sin(2 * np.pi * (310 + 40 * k) * t) + np.random.default_rng(k).normal(0, 0.5, n)
# %%
peaks, power = {}, []
for k in range(5):
    x = recording(k)
    S = np.abs(np.fft.rfft(x.reshape(200, -1), axis=1))
    peaks[k] = S.mean(0).argmax() * 2.0
    power.append((x**2).mean())
# %%
print(peaks)
# %%
fit = np.polyfit(list(peaks), list(peaks.values()), 1)
print(f"{fit[0]:.1f} Hz a stage, from {fit[1]:.1f} Hz; loudest stage {np.argmax(power)}")
