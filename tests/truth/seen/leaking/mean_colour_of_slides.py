# /// truth
# question = "unused"
# style = "short"
# needs = ["numpy", "PIL", "pandas"]
# thread = "GitHub, hippynn, 2025: whether a name is gone at the end of its loop; it is not, the last item stays"
# leaked = "1400 * 2000 * 4 + 1400 * 2000 * 3 * 4"
# cause_cell = 2
# cause_line = "px = np.asarray(im, dtype=\"float32\")"
# holder = ["px", "im"]
# repair = "del px, im"
# ///
# %%
import numpy as np
import pandas as pd
from PIL import Image

def slide(k, h=1400, w=2000):
    rng = np.random.default_rng(k)
    small = rng.integers(90, 250, (h // 20, w // 20, 3), dtype="uint8")
    return Image.fromarray(small).resize((w, h), Image.Resampling.BILINEAR)
# %%
rows = []
for k in range(6):
    im = slide(k)
    px = np.asarray(im, dtype="float32")
    rows.append([k, *px.mean((0, 1)), px.std()])
tab = pd.DataFrame(rows, columns=["slide", "r", "g", "b", "spread"])
# %%
tab.round(2)
# %%
tint = tab[["r", "g", "b"]].sub(tab[["r", "g", "b"]].mean(axis=1), axis=0)
print("most reddish", tab.slide[tint.r.idxmax()], "flattest", tab.slide[tab.spread.idxmin()])
