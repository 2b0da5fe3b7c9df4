# /// truth
# question = "grows"
# style = "short"
# needs = ["numpy"]
# thread = "CPython tracker, logging.handlers: MemoryHandler keeps the records and so the arguments of every message until it flushes, a large capacity and a high flush level keep all of them"
# leaked = "40 * 480 * 640 * 3"
# cause_cell = 3
# cause_line = "frame = rng.integers"
# holder = ["mem", "mem.buffer", "log", "MemoryHandler", "logging"]
# repair = "mem.buffer.clear()"
# ///
# %%
import logging
from logging.handlers import MemoryHandler
import numpy as np

log = logging.getLogger("camera")
log.setLevel(logging.DEBUG)
log.propagate = False
mem = MemoryHandler(capacity=100_000, flushLevel=logging.CRITICAL, target=logging.StreamHandler())
log.addHandler(mem)
# %%
rng = np.random.default_rng(1)
def brightness(frame):
    log.debug("frame %s", frame)
    return float(frame.mean())
# %%
curve = []
for _ in range(40):
    frame = rng.integers(0, 255, (480, 640, 3), dtype=np.uint8)
    curve.append(brightness(frame))
del frame
print(max(curve))
