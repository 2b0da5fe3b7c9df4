# /// truth
# question = "grows"
# style = "long"
# needs = ["polars", "numpy", "matplotlib"]
# thread = "polars issues of 2023 and 2024 on frames that are stacked: vstack copies nothing and hangs the buffers of each piece to the frame"
# leaked = "7 * 180_000 * 3 * 8"
# cause_cell = 3
# cause_line = "AUDIT = AUDIT.vstack("
# holder = ["AUDIT"]
# repair = "AUDIT = AUDIT.clear()"
# ///
# %% [markdown]
# # Heat meters: corrections one after the other
# %%
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

rng = np.random.default_rng(33)
# %%
n = 180_000
df = pl.DataFrame({
    "meter": rng.integers(0, 600, n).astype(float),
    "kwh": rng.gamma(2.0, 3.0, n),
    "flow": rng.normal(21, 3, n),
    "back": rng.normal(15, 2, n),
})
df.head(3)
# %% [markdown]
# The auditors want to see every state, so each step leaves its rounded values.
# %%
AUDIT = pl.DataFrame(schema={"kwh": pl.Float64, "flow": pl.Float64, "back": pl.Float64})


def step(df, *exprs):
    global AUDIT
    df = df.with_columns(*exprs)
    AUDIT = AUDIT.vstack(df.select(pl.col("kwh", "flow", "back").round(3)))
    return df
# %%
def unit(df):
    return step(df, pl.when(pl.col("meter") < 80).then(pl.col("kwh") * 1.163).otherwise(pl.col("kwh")).alias("kwh"))


def sensors(df):
    df = step(df, (pl.col("flow") - 0.2).alias("flow"))
    return step(df, pl.col("back").clip(5, 30))
# %%
def plausible(df):
    df = step(df, pl.min_horizontal("back", "flow").alias("back"))
    df = step(df, pl.col("kwh").clip(0, 40))
    return step(df, (pl.col("kwh") * (pl.col("flow") > 12).cast(pl.Float64)).alias("kwh"))
# %%
clean = plausible(sensors(unit(df)))
clean = step(clean, (pl.col("kwh") * 0.998).alias("kwh"))
clean.select(pl.col("kwh", "flow", "back").mean().round(3))
# %%
per_meter = clean.group_by("meter").agg(pl.col("kwh").sum(), (pl.col("flow") - pl.col("back")).mean().alias("spread"))
per_meter.sort("kwh", descending=True).head(4)
# %%
before, after = df["kwh"].sum(), clean["kwh"].sum()
print(f"corrected by {after / before - 1:+.2%}")
# %%
fig, ax = plt.subplots(figsize=(4, 2.5))
ax.scatter(per_meter["spread"], per_meter["kwh"], s=2)
fig.savefig("meters.png", dpi=60)
plt.close(fig)
# %%
cold = clean.filter(pl.col("flow") < 14)
print(cold.height, "readings of cold pipes,", cold["kwh"].mean())
# %%
print(per_meter["kwh"].quantile(0.9), per_meter.height, "meters")
