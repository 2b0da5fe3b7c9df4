# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "pandas", "matplotlib"]
# thread = "GitHub issue of about 2021 on a data cleaning tool: memory rises with every step, since each step keeps a whole copy of the frame for undo and the list has no limit"
# leaked = "150_000 * 8 * (7 + 8 + 9 + 10 + 11 + 12)"
# cause_cell = 3
# cause_line = "UNDO.append((fn.__name__, df.copy()))"
# holder = ["UNDO"]
# repair = "UNDO.clear()"
# ///
# %% [markdown]
# # Orders 2023: cleaning and a first look at margins
# %%
import functools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

pd.set_option("display.width", 120)
# %%
def load_orders(n=150_000, seed=11):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "order_id": np.arange(n),
            "store": rng.integers(0, 40, n),
            "qty": rng.poisson(3, n).astype(float),
            "price": rng.gamma(4.0, 6.0, n),
            "discount": rng.choice([0.0, 0.05, 0.1, 0.4], n, p=[0.6, 0.2, 0.15, 0.05]),
            "cost": rng.gamma(3.0, 5.0, n),
            "day": rng.integers(0, 365, n),
        }
    )

df = load_orders()
df.head(3)
# %% [markdown]
# Every step is written down so that I can go back one step while I try things.
# %%
UNDO = []

def step(fn):
    @functools.wraps(fn)
    def wrapper(df, *args, **kw):
        UNDO.append((fn.__name__, df.copy()))
        out = fn(df, *args, **kw)
        print(f"{fn.__name__}: {len(df)} -> {len(out)} rows, {out.shape[1]} columns")
        return out
    return wrapper

def undo():
    return UNDO.pop()[1]
# %%
@step
def add_revenue(df):
    return df.assign(revenue=df.qty * df.price * (1 - df.discount))

@step
def add_margin(df):
    return df.assign(margin=df.revenue - df.qty * df.cost)

@step
def add_month(df):
    return df.assign(month=df.day // 30.5)
# %%
@step
def add_store_mean(df):
    return df.assign(store_mean=df.groupby("store").revenue.transform("mean"))

@step
def add_rel(df, clip=5.0):
    return df.assign(rel=(df.revenue / df.store_mean).clip(upper=clip))

@step
def drop_odd(df, lo=0.0):
    return df[(df.qty > 0) & (df.revenue > lo)]
# %%
clean = df.pipe(add_revenue).pipe(add_margin).pipe(add_month)
clean = clean.pipe(add_store_mean).pipe(add_rel).pipe(drop_odd)
# %%
by_month = clean.groupby("month")[["revenue", "margin"]].sum()
by_month["share"] = by_month.margin / by_month.revenue
by_month.round(2)
# %%
fig, ax = plt.subplots(figsize=(6, 3))
ax.bar(by_month.index, by_month.revenue / 1e3)
ax2 = ax.twinx()
ax2.plot(by_month.index, by_month.share, "r.-")
ax.set_xlabel("month"); ax.set_ylabel("revenue [k]")
fig.savefig("months.png", dpi=60)
plt.close(fig)
# %%
stores = clean.groupby("store").agg(revenue=("revenue", "sum"), margin=("margin", "sum"), n=("order_id", "size"))
stores["margin_pct"] = 100 * stores.margin / stores.revenue
best, worst = stores.margin_pct.idxmax(), stores.margin_pct.idxmin()
print("best", best, "worst", worst)
# %%
corr = clean[["qty", "discount", "rel", "margin"]].corr()
print(corr.round(2))
# %%
summary = {
    "rows": len(clean),
    "revenue": float(clean.revenue.sum()),
    "margin": float(clean.margin.sum()),
    "best month": int(by_month.share.idxmax()),
}
summary
