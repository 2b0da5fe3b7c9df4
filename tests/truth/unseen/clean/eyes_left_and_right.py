# /// truth
# question = "unused"
# style = "short"
# needs = ["numpy"]
# thread = "NumPy questions on views and copies, 2012 and later: the name of the whole array is not used any more, its memory is, through its two halves"
# ///
# %%
import numpy as np

frames = np.random.default_rng(6).normal(size=(200, 96, 256)).astype("float32")
frames += np.linspace(0, 1, 256, dtype="float32")
left, right = frames[:, :, :128], frames[:, :, 128:]
# %%
print("brightness", left.mean(), right.mean())
# %%
shift = [float(np.corrcoef(left[k].mean(0), np.roll(right[k].mean(0), s))[0, 1]) for k in (0, 99) for s in (-2, 0, 2)]
print(np.round(shift, 2))
# %%
motion = np.abs(np.diff(left, axis=0)).mean((1, 2))
print("most motion at", motion.argmax())
# %%
drift = right.mean((1, 2)) - left.mean((1, 2))
print("drift", np.polyfit(np.arange(len(drift)), drift, 1).round(6))
