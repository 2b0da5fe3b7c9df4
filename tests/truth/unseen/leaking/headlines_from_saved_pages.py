# /// truth
# question = "hides"
# style = "long"
# needs = ["bs4", "pandas"]
# thread = "Stack Overflow on BeautifulSoup memory, about 2012 to 2016: a NavigableString refers to its parents, so one string keeps the whole tree; answer is to turn it into str"
# leaked = "12 * 2_500_000"
# cause_cell = 4
# cause_line = "soup = BeautifulSoup("
# holder = ["heads"]
# repair = "heads = [str(h) for h in heads]"
# ///
# %% [markdown]
# # What did the paper write about in spring?
# %%
import re
from collections import Counter
from pathlib import Path

import pandas as pd
from bs4 import BeautifulSoup
# %%
WORDS = "rail strike budget school flood vote harbour hospital".split()
Path("pages").mkdir(exist_ok=True)
for i in range(12):
    head = f"{WORDS[i % 8].title()} and {WORDS[(i * 3 + 1) % 8]}: day {i}"
    state = "{" + "0,1," * 624_999 + "}}}"
    Path(f"pages/{i:02d}.html").write_text(
        f"<html><body><h1>{head}</h1><p class='by'>desk {i % 3}</p><script>{state}</script></body></html>"
    )
# %%
files = sorted(Path("pages").glob("*.html"))
print(len(files), "pages,", files[0].stat().st_size // 1024, "kB each")
# %%
def headline(path):
    soup = BeautifulSoup(path.read_text(), "html.parser")
    return soup.h1.string


heads = [headline(p) for p in files]
# %%
print(heads[:3])
# %%
df = pd.DataFrame({"day": range(len(heads)), "chars": [len(h) for h in heads]})
df["words"] = [len(re.findall(r"[a-z]+", h.lower())) for h in heads]
df.describe().round(1)
# %%
counts = Counter(w for h in heads for w in re.findall(r"[a-z]{4,}", h.lower()))
counts.most_common(5)
# %%
stop = {"and", "day"}
top = pd.Series({w: c for w, c in counts.items() if w not in stop}).sort_values(ascending=False)
top.head()
# %%
df["topic"] = [WORDS.index(h.split()[0].lower()) for h in heads]
df.groupby("topic").size()
# %%
share = top / top.sum()
print(share.head(3).round(2).to_dict())
# %%
print(f"{len(df)} pages, {len(top)} topics, longest headline {df['chars'].max()} characters")
