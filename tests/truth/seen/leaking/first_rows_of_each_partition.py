# /// truth
# question = "hides"
# style = "long"
# needs = ["pyarrow", "numpy", "pandas"]
# thread = "Arrow and polars issues, 2019 to 2022: a slice is an offset and a length, the buffers of the whole table stay"
# leaked = "6 * 400_000 * 3 * 8"
# cause_cell = 4
# cause_line = "tbl = feather.read_table("
# holder = ["samples"]
# repair = "samples = {k: t.take(list(range(t.num_rows))) for k, t in samples.items()}"
# ///
# %% [markdown]
# # Meter readings, one file a month: look, check, sum up
# %%
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import feather

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun"]
# %%
for k, m in enumerate(MONTHS):
    r = np.random.default_rng(k)
    cols = {"meter": r.integers(0, 900, 400_000), "kwh": r.gamma(2.0, 0.4, 400_000), "volt": r.normal(230, 2, 400_000)}
    feather.write_feather(pa.table(cols), f"{m}.arrow", compression="uncompressed", chunksize=400_000)
del cols
# %%
def check(tbl):
    lo, hi = pc.min_max(tbl["volt"]).as_py().values()
    return {"rows": tbl.num_rows, "kwh": pc.sum(tbl["kwh"]).as_py(), "lo": lo, "hi": hi}
# %%
samples, report = {}, {}


def scan(m):
    tbl = feather.read_table(f"{m}.arrow", memory_map=False)
    report[m] = check(tbl)
    samples[m] = tbl.slice(1000, 20)


for m in MONTHS:
    scan(m)
# %%
rep = pd.DataFrame(report).T
rep.round(1)
# %%
for m in MONTHS[:2]:
    print(m, samples[m]["kwh"].to_pylist()[:3])
# %%
outside = rep[(rep["lo"] < 215) | (rep["hi"] > 245)]
print(len(outside), "months with voltages out of range")
# %%
days = pd.Series([31, 28, 31, 30, 31, 30], index=MONTHS)
per_day = rep["kwh"] / days
per_day.round(0)
# %%
trend = np.polyfit(range(6), per_day, 1)[0]
print(f"trend {trend:+.1f} kWh a day and month")
# %%
cost = rep["kwh"] * 0.31
cost.cumsum().round(0)
# %%
print(f"half year: {rep['kwh'].sum():.0f} kWh, {cost.sum():.0f} EUR, {int(rep['rows'].sum())} readings")
