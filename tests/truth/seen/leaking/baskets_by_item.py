# /// truth
# question = "unused"
# style = "short"
# needs = ["polars", "numpy"]
# thread = "GitHub, ark-analysis, 2022: the tables of intermediate sums and groups are large and nobody needs them after the result, they are to be deleted by name"
# leaked = "8 * 20_000 * (1 + 240)"
# cause_cell = 2
# cause_line = "wide = sales.pivot("
# holder = ["wide"]
# repair = "del wide"
# ///
# %%
import numpy as np
import polars as pl

rng = np.random.default_rng(21)
sales = pl.DataFrame({
    "basket": np.repeat(np.arange(20_000), 10),
    "item": (rng.zipf(1.4, 200_000) - 1) % 240,
    "n": rng.integers(1, 4, 200_000),
})
# %%
wide = sales.pivot(on="item", index="basket", values="n", aggregate_function="sum").fill_null(0)
share = (wide.drop("basket") > 0).mean().unpivot(variable_name="item", value_name="share")
# %%
print(share.sort("share", descending=True).head(5))
# %%
top = share.sort("share", descending=True)["item"].cast(pl.Int64).head(5)
print(sales.filter(pl.col("item").is_in(top.to_list())).group_by("item").agg(pl.col("n").mean()))
