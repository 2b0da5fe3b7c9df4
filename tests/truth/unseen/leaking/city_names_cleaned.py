# /// truth
# question = "hides"
# style = "long"
# needs = ["numpy", "pandas"]
# thread = "Stack Overflow questions on callbacks, 2010 and later: a bound method keeps its object with all that the object holds"
# leaked = "2 * 300_000 * 40"
# cause_cell = 3
# cause_line = "self.raw = Path(path).read_text()"
# holder = ["fixers"]
# repair = "for fix in fixers.values(): fix.__self__.raw = None"
# ///
# %% [markdown]
# # Deliveries: clean the addresses, then count by city
# %%
import random
from pathlib import Path

import numpy as np
import pandas as pd

random.seed(4)
rng = np.random.default_rng(4)
# %% [markdown]
# The gazetteer comes as fixed width text, 40 characters a line.
# %%
def write_gazetteer(path, stem):
    names = [f"{stem}{i % 500:03d}" for i in range(300_000)]
    Path(path).write_text("".join(f"{n:<20}{i:>19}\n" for i, n in enumerate(names)))


write_gazetteer("cities.txt", "City")
write_gazetteer("streets.txt", "Road")
# %%
class Gazetteer:
    def __init__(self, path, width=20):
        self.raw = Path(path).read_text()
        self.names = {}
        for line in self.raw[: 40 * 500].splitlines():
            name = line[:width].strip()
            self.names[name.lower()] = name

    def fix(self, s):
        return self.names.get(s.strip().lower(), "?")


fixers = {
    "city": Gazetteer("cities.txt").fix,
    "street": Gazetteer("streets.txt").fix,
}
# %%
n = 20_000
df = pd.DataFrame({
    "city": [random.choice([" City%03d", "city%03d ", "CITY%03d"]) % random.randrange(520) for _ in range(n)],
    "street": ["road%03d" % random.randrange(500) for _ in range(n)],
    "kg": rng.gamma(2.0, 3.0, n),
    "late": rng.random(n) < 0.13,
})
df.head()
# %%
for col, fix in fixers.items():
    df[col] = df[col].map(fix)
print((df == "?").sum())
# %%
df = df[df["city"] != "?"]
df["heavy"] = df["kg"] > 15
len(df)
# %%
by_city = df.groupby("city").agg(n=("kg", "size"), kg=("kg", "sum"), late=("late", "mean"))
by_city.sort_values("n", ascending=False).head(5)
# %%
lateness = df.groupby("heavy")["late"].mean()
print(lateness.round(3).to_dict())
# %%
q = by_city["kg"].quantile([0.1, 0.5, 0.9])
q.round(1)
# %%
print(f"{len(by_city)} cities, {df['kg'].sum() / 1000:.1f} t, {df['late'].mean():.1%} late")
