# /// truth
# question = "unused"
# style = "short"
# needs = ["numpy"]
# thread = "Look-alike of the CPython issue of 2022 on names at module level: the grid is named in one cell only, a function that is called later reads it"
# ///
# %%
import numpy as np

rng = np.random.default_rng(14)
terrain = rng.normal(0, 1, (1500, 1500)).cumsum(0).cumsum(1)
terrain *= 800 / np.abs(terrain).max()

def height(lon, lat):
    i, j = int((lat - 45) * 300), int((lon - 6) * 300)
    return float(terrain[i : i + 2, j : j + 2].mean())
# %%
stations = {f"st{k}": (lon, lat) for k, (lon, lat) in enumerate(rng.uniform((6, 45), (10.9, 49.9), (40, 2)))}
# %%
heights = {name: height(*at) for name, at in stations.items()}
print("highest", max(heights, key=heights.get))
# %%
gaps = sorted(heights.values())
print(np.diff(gaps).max().round(2), height(8.0, 47.0))
