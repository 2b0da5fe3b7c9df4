# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "sklearn"]
# thread = "apsw issue of 2023: a connection with a registered function is never collected, in sqlite3 of the standard library as well"
# leaked = "24000 // 4 * (4096 + 280)"
# cause_cell = 4
# cause_line = "self.con.executemany("
# holder = ["sqlite3.Connection", "OrderBook", "sqlite3", "create_function", "OrderBook.region_of"]
# repair = "import gc\nfor book in [o for o in gc.get_objects() if type(o) is OrderBook]:\n    book.con.close()"
# ///
# %% [markdown]
# # Late deliveries
# notes of the drivers are stored as they come, about one kB each
# %%
import sqlite3

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(5)
# %%
N = 24_000
REGIONS = {"1": "north", "2": "coast", "3": "hills", "4": "city"}
orders = pd.DataFrame(
    {
        "zip": rng.integers(1000, 4999, N).astype(str),
        "kg": rng.gamma(2, 3, N).round(2),
        "km": rng.gamma(3, 20, N).round(1),
    }
)
# %%
late_p = 1 / (1 + np.exp(-(orders.km / 40 - 2.5 + 0.08 * orders.kg)))
orders["late"] = (rng.random(N) < late_p).astype(int)
orders.late.mean().round(3)
# %%
class OrderBook:
    def __init__(self, df):
        self.con = sqlite3.connect(":memory:")
        self.con.execute("create table o (zip text, kg real, km real, late int, note text)")
        self.con.executemany(
            "insert into o values (?, ?, ?, ?, ?)",
            ((r.zip, r.kg, r.km, r.late, ("driver " + r.zip).ljust(980, ".")) for r in df.itertuples()),
        )
        self.con.create_function("region", 1, self.region_of)

    def region_of(self, zip_code):
        return REGIONS.get(zip_code[0], "?")

    def frame(self, sql):
        return pd.read_sql(sql, self.con)


# %%
def by_region(df):
    book = OrderBook(df)
    sql = "select zip, kg, km, late, region(zip) as region, length(note) as n_note from o"
    return book.frame(sql)


tab = by_region(orders)
# %%
tab.groupby("region").agg(n=("kg", "size"), km=("km", "mean"), late=("late", "mean")).round(3)
# %%
X = pd.get_dummies(tab[["kg", "km", "region"]], columns=["region"], drop_first=True).astype(float)
X["kgkm"] = X.kg * X.km / 100
Xtr, Xte, ytr, yte = train_test_split(X, tab.late, test_size=0.3, random_state=0)
# %%
mu, sd = Xtr.mean(), Xtr.std()
clf = LogisticRegression(max_iter=200).fit((Xtr - mu) / sd, ytr)
# %%
p = clf.predict_proba((Xte - mu) / sd)[:, 1]
print("auc", round(roc_auc_score(yte, p), 3))
# %%
coef = pd.Series(clf.coef_[0], X.columns).sort_values()
print(coef.round(2).to_string())
# %%
cut = np.quantile(p, 0.9)
print(f"call the customer above p = {cut:.2f}: {yte[p > cut].mean():.0%} of those are late")
