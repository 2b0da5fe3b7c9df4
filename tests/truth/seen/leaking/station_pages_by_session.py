# /// truth
# question = "asked"
# style = "long"
# needs = ["numpy", "pandas", "requests", "matplotlib"]
# thread = "GitHub, requests, 2015 and later: memory not given back after a session was closed; here what its hooks refer to"
# leaked = "36 * 120_000 * 4"
# cause_cell = 2
# cause_line = "r._content ="
# holder = ["session.hooks", "http.hooks", "hooks", "http"]
# repair = "http.hooks['response'].clear()"
# ///
# %%
import re
import numpy as np
import pandas as pd
import requests
from requests.adapters import BaseAdapter
# %%
class Offline(BaseAdapter):
    """Stands in for the weather service, so that this runs on the train."""
    def send(self, request, **kw):
        k = int(re.search(r"/(\d+)$", request.url)[1])
        r = requests.Response()
        r.status_code, r.url, r.request = 200, request.url, request
        r._content = np.random.default_rng(k).normal(9 + k % 5, 4, 120_000).astype("f4").tobytes()
        return r
    def close(self):
        pass
# %%
class Audit:
    def __init__(self):
        self.pages = []
    def note(self, r, *args, **kw):
        self.pages.append((r.url, r.content))
    def total(self):
        return sum(len(b) for _, b in self.pages)
# %%
audit = Audit()
http = requests.Session()
http.trust_env = False
http.mount("mem://", Offline())
http.hooks["response"].append(audit.note)
# %%
def station(k):
    body = http.get(f"mem://weather/{k}").content
    v = np.frombuffer(body, "f4").astype(float)
    return {"station": k, "mean": v.mean(), "p95": np.quantile(v, .95), "frost": (v < 0).mean()}
# %%
table = pd.DataFrame([station(k) for k in range(36)]).set_index("station")
table.head()
# %%
print(f"{audit.total() / 1e6:.1f} MB in {len(audit.pages)} pages")
# %%
http.close()
audit = None
# %%
table["class"] = pd.cut(table["mean"], [0, 10, 12, 20], labels=["cold", "mild", "warm"])
table["class"].value_counts()
# %%
by = table.groupby("class", observed=True)[["mean", "p95", "frost"]].mean()
by.round(2)
# %%
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
table.plot.scatter("mean", "frost", ax=ax)
plt.close(fig)
# %%
print("coldest", table["mean"].idxmin(), "most frost", table["frost"].idxmax())
