# /// truth
# question = "hides"
# style = "long"
# needs = ["PIL", "numpy", "pandas", "matplotlib"]
# thread = "Pillow issues of 2014 and 2017 and a smolagents pull request of 2026: open is lazy, and the image has its file, here the bytes, until it is loaded or closed"
# leaked = "9 * (14 + 40 + 1024 + 1600 * 2000)"
# cause_cell = 4
# cause_line = "return Image.open(io.BytesIO(data))"
# holder = ["heads", "BytesIO", "BmpImageFile", "heads['p0'].fp", "fp"]
# repair = "heads = {k: (im.width, im.height, im.mode) for k, im in heads.items()}"
# ///
# %% [markdown]
# # Catalogue of the scanned register
# %%
import io
import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image
# %%
def page(k, h=2000, w=1600):
    r = np.random.default_rng(k)
    a = np.full((h, w), 240, dtype="uint8")
    for row in range(120, h - 100, 60 + 3 * k):
        a[row : row + 4, 100 : w - int(r.integers(100, 600))] = 30
    buf = io.BytesIO()
    Image.fromarray(a).save(buf, "BMP", dpi=(200 + 50 * (k % 3), 200 + 50 * (k % 3)))
    return buf.getvalue()
# %%
con = sqlite3.connect("register.db")
con.execute("create table if not exists page (name text, year integer, data blob)")
for k in range(9):
    con.execute("insert into page values (?, ?, ?)", (f"p{k}", 1871 + 2 * k, page(k)))
con.commit()
# %%
def head(data):
    return Image.open(io.BytesIO(data))


def catalogue(con):
    return {name: head(data) for name, data in con.execute("select name, data from page order by name")}
# %%
heads = catalogue(con)
years = dict(con.execute("select name, year from page"))
con.close()
# %%
tab = pd.DataFrame([{"name": k, "w": im.width, "h": im.height, "dpi": round(im.info["dpi"][0])} for k, im in heads.items()])
tab["year"] = tab.name.map(years)
tab.head(3)
# %%
tab["cm"] = tab.w / tab.dpi * 2.54
tab.groupby("dpi").cm.agg(["mean", "size"]).round(1)
# %%
tall = tab[tab.h / tab.dpi * 2.54 > 22]
print(len(tall), "pages do not fit the shelf:", tall.name.tolist())
# %%
fig, ax = plt.subplots(figsize=(3, 2))
ax.plot(tab.year, tab.dpi, "o")
fig.savefig("dpi.png", dpi=60)
plt.close(fig)
# %%
decade = tab.groupby(tab.year // 10 * 10).size()
decade.to_dict()
# %%
modes = pd.Series([im.mode for im in heads.values()]).value_counts()
print(modes.to_dict(), "years", tab.year.min(), "to", tab.year.max())
