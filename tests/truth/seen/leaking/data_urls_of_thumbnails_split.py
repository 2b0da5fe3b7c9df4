# /// truth
# question = "reach"
# style = "short"
# needs = ["numpy"]
# thread = "vm0 issue of 2026 on urllib.parse: the cache of urlsplit retains the last 128 addresses and their parts, large ones too, when their request is long gone"
# leaked = "8 * (2 * 1200000 + 22 + 17)"
# cause_cell = 2
# cause_line = "parts = urlsplit("
# holder = ["urllib.parse.urlsplit", "urlsplit", "urllib.parse", "lru_cache", "_lru_cache_wrapper"]
# repair = "import urllib.parse; urllib.parse.clear_cache()"
# ///
# %%
import base64
from urllib.parse import urlsplit

import numpy as np

rng = np.random.default_rng(3)
# %%
sizes = {}
for i in range(8):
    raw = rng.bytes(900_000)
    parts = urlsplit("data:image/png;base64," + base64.b64encode(raw).decode())
    sizes[i] = len(base64.b64decode(parts.path.partition(",")[2]))
del raw, parts
# %%
print(f"{len(sizes)} thumbnails, {sum(sizes.values()) / 1e6:.1f} MB in all")
