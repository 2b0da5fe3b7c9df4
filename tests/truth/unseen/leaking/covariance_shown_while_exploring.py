# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "Blog post of 2026 on memory of notebooks: an array in the last line of a cell is in Out for good, del and gc.collect do nothing"
# leaked = "1800 * 1800 * 8"
# cause_cell = 2
# cause_line = "df.cov()"
# holder = ["Out[2]", "Out", "_2", "_oh", "_oh[2]"]
# repair = "ip = get_ipython()\nip.displayhook.flush()\nip.user_ns_hidden.update({'_': '', '__': '', '___': ''})"
# ///
# %%
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
df = pd.DataFrame(rng.normal(size=(300, 1800))).add_prefix("g")
# %%
df.cov()
# %%
top = df.std().nlargest(5)
print(top)
