# /// truth
# question = "hides"
# style = "long"
# needs = ["numpy", "pandas", "pyarrow"]
# thread = "pandas issue of 2023 on groupby objects and Arrow issues on slices; here the groups are asked again and again and the rows shown are taken as copies"
# ///
# %% [markdown]
# # Orders of a year
# %%
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
# %%
r = np.random.default_rng(31)
n = 400_000
orders = pa.table({
    "month": r.integers(1, 13, n),
    "shop": r.integers(0, 40, n),
    "eur": r.gamma(1.5, 22.0, n),
    "items": r.poisson(2.2, n) + 1,
})
orders.num_rows
# %%
def first_rows(month, k=5):
    part = orders.filter(pc.equal(orders["month"], month))
    return part.take(list(range(k)))


heads = {m: first_rows(m) for m in range(1, 13)}
# %%
heads[3].to_pandas().round(2)
# %%
by_month = orders.to_pandas().groupby("month")
print(by_month.ngroups, "months")
# %%
total = by_month["eur"].sum()
total.round(0)
# %%
basket = by_month["eur"].median() / by_month["items"].mean()
basket.round(2).idxmax()
# %%
top = by_month.apply(lambda d: d.groupby("shop")["eur"].sum().idxmax(), include_groups=False)
print(top.to_dict())
# %%
dec = by_month.get_group(12)
print(f"december: {len(dec)} orders, {dec['eur'].max():.0f} EUR the largest")
# %%
z = (total - total.mean()) / total.std()
z[abs(z) > 1.5]
# %%
q = by_month["eur"].quantile(0.99)
share = by_month["eur"].apply(lambda s: (s > q.mean()).mean())
# %%
print(f"{total.sum() / 1e6:.2f} M EUR, best month {total.idxmax()}, {share.mean():.2%} large orders")
