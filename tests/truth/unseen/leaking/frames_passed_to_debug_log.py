# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy", "pandas"]
# thread = "Pull requests of 2025 and 2026 at Tribler and reyn: a MemoryHandler without a target flushes to nowhere and never empties its buffer"
# leaked = "12 * 20000 * 10 * 8"
# cause_cell = 2
# cause_line = "df = pd.DataFrame(rng.normal"
# holder = ["logging.getLogger('ingest').handlers[0].buffer", "MemoryHandler", "logging", "LogRecord"]
# repair = "import logging; logging.getLogger('ingest').handlers[0].buffer.clear()"
# ///
# %%
import logging
import logging.handlers

import numpy as np
import pandas as pd

logging.getLogger("ingest").addHandler(logging.handlers.MemoryHandler(5000, flushLevel=logging.CRITICAL))
logging.getLogger("ingest").setLevel(logging.DEBUG)
logging.getLogger("ingest").propagate = False
# %%
rng = np.random.default_rng(0)


def ingest(day):
    df = pd.DataFrame(rng.normal(size=(20_000, 10)), columns=list("abcdefghij"))
    logging.getLogger("ingest").debug("day %s: %s", day, df)
    return df["a"].mean()


# %%
means = [ingest(d) for d in range(12)]
print(np.round(means, 4))
