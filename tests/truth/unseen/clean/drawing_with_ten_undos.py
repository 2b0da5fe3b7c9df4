# /// truth
# question = "grows"
# style = "long"
# needs = ["numpy", "PIL", "scipy"]
# thread = "GitHub issue of about 2019 on an annotation tool: the undo stack takes all memory, it was given a depth"
# ///
# %% [markdown]
# # Mask of the cells, by hand and by threshold
# %%
from collections import deque

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from scipy import ndimage as ndi

rng = np.random.default_rng(9)
# %%
size = 600
cells = [(rng.integers(40, 560), rng.integers(40, 560), rng.integers(8, 26)) for _ in range(45)]
img = Image.new("L", (size, size), 20)
d = ImageDraw.Draw(img)
for x, y, r in cells:
    d.ellipse([x - r, y - r, x + r, y + r], fill=int(rng.integers(90, 220)))
# %%
img = img.filter(ImageFilter.GaussianBlur(2))
pix = np.asarray(img, dtype=np.float32) + rng.normal(0, 6, (size, size)).astype(np.float32)
pix.mean(), pix.max()
# %%
class Editor:
    def __init__(self, mask, depth=10):
        self.mask = mask
        self.undo_stack = deque(maxlen=depth)
        self.log = []

    def do(self, name, fn):
        self.undo_stack.append(self.mask.copy())
        self.mask = fn(self.mask)
        self.log.append((name, int(self.mask.sum())))

    def undo(self):
        self.mask = self.undo_stack.pop()
        self.log.append(("undo", int(self.mask.sum())))
# %%
ed = Editor(pix > 60)
ed.do("open", lambda m: ndi.binary_opening(m, iterations=2))
ed.do("close", lambda m: ndi.binary_closing(m, iterations=2))
ed.do("fill", ndi.binary_fill_holes)
ed.log
# %%
def disc(x, y, r, value):
    yy, xx = np.ogrid[:size, :size]
    where = (xx - x) ** 2 + (yy - y) ** 2 < r * r
    return lambda m: np.where(where, value, m)

for k in range(60):
    x, y, r = cells[k % len(cells)]
    ed.do("brush", disc(x, y, r, k % 7 != 0))
# %%
for _ in range(4):
    ed.undo()
print(ed.log[-5:])
# %%
labels, n = ndi.label(ed.mask)
area = ndi.sum_labels(ed.mask, labels, np.arange(1, n + 1))
print(n, "objects, median area", np.median(area))
# %%
truth = np.zeros((size, size), bool)
for x, y, r in cells:
    truth |= disc(x, y, r, True)(truth)
iou = (truth & ed.mask).sum() / (truth | ed.mask).sum()
print(f"IoU {iou:.3f}")
# %%
grey = ndi.mean(pix, labels, np.arange(1, n + 1))
{"cells": n, "steps": len(ed.log), "can undo": len(ed.undo_stack), "grey": round(float(np.mean(grey)), 1)}
