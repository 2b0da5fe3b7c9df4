# /// truth
# question = "asked"
# style = "short"
# needs = ["numpy"]
# thread = "Stack Overflow, around 2016: the keys of a dictionary are a view in Python 3, deleting the dictionary frees nothing"
# leaked = "25 * 400_000 * 4"
# cause_cell = 1
# cause_line = "np.full(400_000"
# holder = ["names", "dict_keys", "names.mapping"]
# repair = "names = list(names)"
# ///
# %%
import numpy as np

def load_folder(n):
    return {f"plate_{i:02}": np.full(400_000, i, dtype=np.float32) for i in range(n)}
# %%
plates = load_folder(25)
names = plates.keys()
means = [float(p.mean()) for p in plates.values()]
# %%
plates = None
print(len(names), sum(means))
