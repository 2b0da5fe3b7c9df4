# /// truth
# question = "hides"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "pandas issues on views of a block (2013 to 2023): one column of a frame made from an array keeps the array of all columns"
# leaked = "7 * 120_000 * (8 - 1) * 8"
# cause_cell = 3
# cause_line = "q = pd.DataFrame("
# holder = ["closes"]
# repair = "closes = {sym: c.copy() for sym, c in closes.items()}"
# ///
# %% [markdown]
# # Basket of seven: minute bars to daily risk
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

SYMS = ["ABC", "DEF", "GHI", "JKL", "MNO", "PQR", "STU"]
BAR = ["open", "high", "low", "close", "volume", "vwap", "bid", "ask"]
# %%
def walk(sym, n=120_000):
    r = np.random.default_rng(sum(map(ord, sym)))
    return 100 * np.exp(np.cumsum(r.normal(0, 2e-4, n)))
# %%
closes = {}


def load(sym):
    p = walk(sym)
    q = pd.DataFrame(np.stack([p, p * 1.001, p * 0.999, p, p * 10, p, p - 0.01, p + 0.01], axis=1), columns=BAR)
    if (q["low"] > q["high"]).any():
        raise ValueError(sym)
    return q["close"]


for sym in SYMS:
    closes[sym] = load(sym)
# %%
print({sym: len(c) for sym, c in closes.items()})
# %%
daily = pd.DataFrame({sym: c.iloc[::500].to_numpy() for sym, c in closes.items()})
daily.tail(3).round(2)
# %%
ret = np.log(daily).diff().dropna()
ret.std().mul(np.sqrt(250)).round(3)
# %%
corr = ret.corr()
print(corr.where(~np.eye(7, dtype=bool)).stack().describe().round(2)["max"])
# %%
w = np.full(7, 1 / 7)
port = ret @ w
var95 = -port.quantile(0.05)
print(f"VaR95 {var95:.4f}")
# %%
fig, ax = plt.subplots(figsize=(4, 3))
ax.plot(port.cumsum().to_numpy())
fig.savefig("basket.png")
plt.close(fig)
# %%
dd = (port.cumsum() - port.cumsum().cummax()).min()
print(f"drawdown {dd:.3f}")
# %%
table = pd.DataFrame({"vol": ret.std(), "mean": ret.mean(), "worst": ret.min()})
table.sort_values("vol").round(4)
# %%
print(f"{len(ret)} days, VaR {var95:.2%}, worst day {port.min():.2%}")
