# /// truth
# question = "reach"
# style = "long"
# needs = ["torch", "numpy", "pandas"]
# thread = "CPython issue of 2022 on references to tasks, with one that waits for ever, and an asynq pull request of 2026 on frames of tasks"
# leaked = "40000 * 64 * 4 + 40000 * 96 * 4"
# cause_cell = 5
# cause_line = "h = torch.relu(enc(xb))"
# holder = ["task", "coroutine", "consumer", "asyncio", "event loop"]
# repair = "for t in asyncio.all_tasks(loop):\n    loop.call_soon_threadsafe(t.cancel)\nimport time\ntime.sleep(0.3)\ndel t"
# ///
# %%
import asyncio
import threading

import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(8)
rng = np.random.default_rng(8)
# %%
def clicks(n):
    """sessions as the tracker sends them: 64 counters"""
    return rng.poisson(1.3, (n, 64)).astype("float32")


hist = pd.DataFrame(clicks(5000)).agg(["mean", "std"]).T
hist.head()
# %%
mu, sd = torch.tensor(hist["mean"].values), torch.tensor(hist["std"].values)
enc = nn.Linear(64, 96)
head = nn.Linear(96, 1)
# %%
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
scores = []
# %%
async def consumer(inbox):
    with torch.no_grad():
        while True:
            xb, done = await inbox.get()
            xb = ((xb - mu) / sd).float()
            h = torch.relu(enc(xb))
            scores.append(torch.sigmoid(head(h)).squeeze(1).numpy())
            done.set()


async def start():
    inbox = asyncio.Queue()
    loop.create_task(consumer(inbox))
    return inbox.put_nowait


put = asyncio.run_coroutine_threadsafe(start(), loop).result()
# %%
def score(x):
    done = threading.Event()
    loop.call_soon_threadsafe(put, (torch.from_numpy(x), done))
    if not done.wait(8):
        raise TimeoutError("consumer is stuck")


for hour in range(4):
    score(clicks(10_000))
# %%
print(len(scores), [round(float(s.mean()), 3) for s in scores])
# %%
# the night batch comes in one piece
score(clicks(40_000))
night = scores.pop()
print(night.shape, night.std())
# %%
tab = pd.DataFrame({h: np.quantile(s, [0.1, 0.5, 0.9]) for h, s in enumerate(scores)}, index=["p10", "p50", "p90"]).T
tab
# %%
thr = float(np.quantile(np.concatenate(scores), 0.95))
share = pd.Series([(s > thr).mean() for s in scores], name="share").round(4)
print(thr, share.to_dict())
# %%
print("night above threshold:", int((night > thr).sum()), "of", len(night))
