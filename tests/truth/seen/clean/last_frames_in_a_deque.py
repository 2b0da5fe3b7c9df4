# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow question of about 2011: how to keep only the last n frames of a stream, the answer is deque with maxlen"
# ///
# %%
from collections import deque
import numpy as np

rng = np.random.default_rng(5)
recent = deque(maxlen=12)
# %%
def on_frame(frame):
    recent.append(frame)
    return np.abs(frame - recent[0]).mean()
# %%
motion = [on_frame(rng.random((480, 640), dtype=np.float32)) for _ in range(90)]
# %%
background = np.median(np.stack(recent), axis=0)
print(background.mean(), max(motion))
