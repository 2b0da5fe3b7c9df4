# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "GitHub issues on observers and signals, about 2020: handlers stay subscribed after their owner is done, an unsubscribe on exit was added; queues are read to their end"
# ///
# %% [markdown]
# # Replay of an order book, strategies listen to ticks
# %%
import asyncio
import sqlite3
from contextlib import closing, contextmanager

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
# %%
def ticks(n=30_000, seed=2):
    rng = np.random.default_rng(seed)
    mid = 100 + np.cumsum(rng.normal(0, 0.01, n))
    return pd.DataFrame({"t": np.arange(n) * 0.1, "bid": mid - 0.01, "ask": mid + 0.01, "size": rng.integers(1, 90, n)})

book = ticks()
book.tail(2)
# %%
class Bus:
    def __init__(self):
        self.handlers = []

    @contextmanager
    def subscribed(self, fn):
        self.handlers.append(fn)
        try:
            yield
        finally:
            self.handlers.remove(fn)

    def publish(self, block):
        for fn in self.handlers:
            fn(block)
# %%
bus = Bus()

async def feed(q, block=500):
    for i in range(0, len(book), block):
        await q.put(book.iloc[i : i + block].copy())
    await q.put(None)

async def drain(q):
    n = 0
    while (block := await q.get()) is not None:
        bus.publish(block)
        n += len(block)
    return n
# %%
async def replay(maxsize=8):
    q = asyncio.Queue(maxsize)
    _, n = await asyncio.gather(feed(q), drain(q))
    return n

def momentum(window):
    buffer, trades = np.empty(0), []

    def on_block(block):
        nonlocal buffer
        mid = (block.bid + block.ask).to_numpy() / 2
        buffer = np.concatenate([buffer, mid])[-window:]
        if len(buffer) == window:
            trades.append((block.t.iloc[-1], np.sign(buffer[-1] - buffer.mean()), mid[-1]))

    return on_block, trades
# %%
results = {}
for window in (500, 2_000, 8_000):
    handler, trades = momentum(window)
    with bus.subscribed(handler):
        seen = await replay()
    results[window] = pd.DataFrame(trades, columns=["t", "side", "price"])
print(seen, len(bus.handlers))
# %%
pnl = {}
for window, tr in results.items():
    pnl[window] = (tr.side.shift().fillna(0) * tr.price.diff().fillna(0)).cumsum()
{w: round(float(p.iloc[-1]), 2) for w, p in pnl.items()}
# %%
fig, ax = plt.subplots(figsize=(5, 2.5))
for window, p in pnl.items():
    ax.plot(results[window].t, p, label=str(window))
ax.legend()
fig.savefig("pnl.png", dpi=60)
plt.close(fig)
# %%
with closing(sqlite3.connect(":memory:")) as db:
    for window, tr in results.items():
        tr.assign(w=window).to_sql("trades", db, if_exists="append", index=False)
    turns = db.execute("select w, count(*), avg(price) from trades group by w").fetchall()
print(turns)
# %%
vol = book.bid.diff().rolling(600).std()
print(f"spread {float((book.ask - book.bid).mean()):.3f}, volatility {vol.mean():.4f}")
