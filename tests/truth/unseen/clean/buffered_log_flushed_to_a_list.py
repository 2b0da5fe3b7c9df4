# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "Look-alike of the reports on MemoryHandler: with a target and a flush the records go on and their arguments are dropped"
# ///
# %%
import io
import logging
import logging.handlers

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
out = io.StringIO()
mem = logging.handlers.MemoryHandler(200, flushLevel=logging.ERROR, target=logging.StreamHandler(out))
log = logging.getLogger("loader")
log.setLevel(logging.DEBUG)
log.propagate = False
log.handlers[:] = [mem]
# %%
def load(day):
    df = pd.DataFrame(rng.normal(size=(20_000, 10)), columns=list("abcdefghij"))
    log.debug("day %s: %s", day, df.describe())
    return df["a"].mean()


means = [load(d) for d in range(12)]
# %%
mem.flush()
print(out.getvalue().count("day"), np.round(means, 4))
