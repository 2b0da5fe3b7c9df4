# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas"]
# thread = "Look-alike of the asyncio issues on tasks that wait for ever: producer and consumer are cancelled or done when the block ends"
# ///
# %%
import asyncio
import threading

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(13)
rng = np.random.default_rng(13)
# %%
conv = nn.Conv2d(3, 8, 5, stride=4).eval()
pool = nn.AdaptiveAvgPool2d(1)
sum(p.numel() for p in conv.parameters())
# %%
def decode(k):
    """frame k of the clip, with a bright square that moves"""
    x = rng.integers(0, 60, (3, 360, 480), dtype=np.uint8)
    x[:, 100:180, 20 + 8 * k : 90 + 8 * k] += 150
    return torch.from_numpy(x)


# %%
async def produce(q, n):
    for k in range(n):
        await q.put(decode(k).float() / 255)
    await q.put(None)


async def consume(q, out):
    with torch.inference_mode():
        while (x := await q.get()) is not None:
            out.append(pool(conv(x[None])).flatten().numpy())


# %%
async def clip(n):
    q, out = asyncio.Queue(maxsize=4), []
    async with asyncio.timeout(9):
        await asyncio.gather(produce(q, n), consume(q, out))
    return np.array(out)


def run(coro):
    box = []
    t = threading.Thread(target=lambda: box.append(asyncio.run(coro)))
    t.start()
    t.join()
    return box[0]


# %%
feats = run(clip(30))
feats.shape
# %%
step = np.linalg.norm(np.diff(feats, axis=0), axis=1)
tab = pd.DataFrame({"frame": np.arange(1, 30), "step": step})
tab.describe().round(4)
# %%
cut = step > step.mean() + 2 * step.std()
print("cuts at", np.flatnonzero(cut).tolist())
# %%
u, s, vt = np.linalg.svd(feats - feats.mean(0), full_matrices=False)
print("energy", (s**2 / (s**2).sum()).round(3)[:3])
# %%
still = decode(0)
print("brightest column", int(still.float().mean((0, 1)).argmax()), "of", still.shape[-1])
