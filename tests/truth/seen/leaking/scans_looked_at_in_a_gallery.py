# /// truth
# question = "reach"
# style = "long"
# needs = ["numpy", "pandas", "PIL", "ipywidgets"]
# thread = "ipywidgets issue of 2017 and later ones: widgets stay in the registry of all widgets until close is called, image values with them"
# leaked = "2 * 6 * 600 * 900 * 3"
# cause_cell = 5
# cause_line = "im = widgets.Image(value=Image.fromarray(arr)._repr_png_()"
# holder = ["ipywidgets.widgets.widget._instances", "ipywidgets.Widget.widgets", "_instances", "ipywidgets", "widget", "widgets"]
# repair = "import ipywidgets; ipywidgets.Widget.close_all()"
# ///
# %%
import ipywidgets as widgets
import numpy as np
import pandas as pd
from IPython.display import display
from PIL import Image

rng = np.random.default_rng(314)
# %%
def scan(seed):
    r = np.random.default_rng(seed)
    img = r.integers(0, 256, (600, 900, 3), dtype=np.uint8)
    if seed % 3 == 0:
        img[200:260, 300:420] = 255  # sticker
    return img


ids = [101, 102, 103, 104, 105, 106]
# %%
meta = pd.DataFrame({"id": ids, "ward": rng.choice(["east", "west"], len(ids)), "pages": rng.integers(1, 4, len(ids))})
meta
# %%
def sticker(img):
    white = (img == 255).all(-1)
    return bool(white.mean() > 0.005)


meta["sticker"] = [sticker(scan(i)) for i in ids]
# %%
def gallery(which, bright=1.0):
    cells = []
    for i in which:
        arr = np.clip(scan(i) * bright, 0, 255).astype("uint8")
        im = widgets.Image(value=Image.fromarray(arr)._repr_png_(), width=150)
        cells.append(widgets.VBox([im, widgets.Label(str(i))]))
    display(widgets.HBox(cells))


gallery(ids)
# %%
# the dark ones are hard to read, once more a bit brighter
gallery(ids, bright=0.999)
# %%
marks = {101: "ok", 102: "sticker", 103: "ok", 104: "ok", 105: "sticker", 106: "ok"}
meta["by_eye"] = meta.id.map(marks)
# %%
hit = (meta.sticker == (meta.by_eye == "sticker")).mean()
print(f"agreement {hit:.0%}")
# %%
stats = {i: scan(i).reshape(-1, 3).mean(0).round(1).tolist() for i in ids}
pd.DataFrame(stats, index=list("rgb")).T
# %%
print(meta.groupby("ward").agg(n=("id", "size"), pages=("pages", "sum"), sticker=("sticker", "mean")))
