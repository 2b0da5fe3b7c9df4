# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow question of 2011 and later: log lines appear twice after the cell was run again, handlers are cleared before one is added"
# order = [1, 2, 3, 2, 3, 2, 3, 4]
# ///
# %%
import io, logging
from logging.handlers import MemoryHandler
import numpy as np

log = logging.getLogger("calib")
log.setLevel(logging.INFO)
log.propagate = False
# %%
text = io.StringIO()
log.handlers.clear()
buffered = MemoryHandler(50, target=logging.StreamHandler(text))
log.addHandler(buffered)
# %%
for k in range(200):
    img = np.random.default_rng(k).normal(size=(300, 400))
    log.info("image %d: %s", k, img[:2, :2])
# %%
buffered.flush()
print(len(text.getvalue().splitlines()), len(log.handlers))
