# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "sklearn"]
# thread = "Look-alike of the apsw issue: the function of the database closes over the connection, but the connection is closed when the frame is read"
# ///
# %%
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

rng = np.random.default_rng(10)
# %%
n = 20_000
visits = pd.DataFrame(
    {
        "patient": rng.integers(1, 4000, n),
        "day": rng.integers(0, 365, n),
        "minutes": rng.gamma(3, 6, n).round(1),
        "note": ["seen by dr " + "abcdef"[i] * 400 for i in rng.integers(0, 6, n)],
    }
)
# %%
names = pd.DataFrame({"patient": np.arange(1, 4000), "age": rng.integers(1, 99, 3999)})
names.age.describe().round(1)
# %%
def frame(sql):
    with closing(sqlite3.connect(":memory:")) as con:
        con.execute("create table visits (patient int, day int, minutes real, note text)")
        con.executemany("insert into visits values (?, ?, ?, ?)", visits.itertuples(index=False, name=None))
        names.to_sql("names", con, index=False)
        seen = {}

        def age(p):
            if p not in seen:
                seen[p] = con.execute("select age from names where patient = ?", (p,)).fetchone()[0]
            return seen[p]

        con.create_function("age", 1, age)
        return pd.read_sql(sql, con)


# %%
tab = frame("select patient, day, minutes, age(patient) as age, substr(note, 12, 1) as doctor from visits")
tab.shape
# %%
tab = tab.sort_values(["patient", "day"])
tab["gap"] = tab.groupby("patient").day.diff(-1).abs()
tab["back"] = (tab.gap < 30).astype(int)
# %%
X = tab[["minutes", "age", "day"]].assign(doctor=pd.factorize(tab.doctor)[0])
cut = tab.day < 270
# %%
m = LogisticRegression().fit(X[cut], tab.back[cut])
p = m.predict_proba(X[~cut])[:, 1]
# %%
print("brier", round(brier_score_loss(tab.back[~cut], p), 4))
# %%
per_doctor = tab.groupby("doctor").back.mean().round(3)
print(per_doctor.to_dict())
