# /// truth
# question = "reach"
# style = "short"
# needs = ["PIL", "numpy"]
# thread = "Look-alike of the reports on idle workers: the thread gets an end mark and is joined, its local variables go with it"
# ///
# %%
import queue
import threading

import numpy as np
from PIL import Image

jobs, thumbs = queue.Queue(), {}
# %%
def shrink():
    for name, img in iter(jobs.get, None):
        thumbs[name] = img.resize((32, 32)).tobytes()


t = threading.Thread(target=shrink)
t.start()
for i in range(5):
    jobs.put((f"img{i}", Image.fromarray(np.full((1400, 1800, 3), i * 40, dtype=np.uint8))))
jobs.put(None)
t.join()
# %%
print({k: v[0] for k, v in thumbs.items()})
