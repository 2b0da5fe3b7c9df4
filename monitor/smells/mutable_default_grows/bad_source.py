# %% with a docstring, by +=
from collections import defaultdict

def gather(rows, so_far=[]):  # lint: XL410
    """All rows until now."""
    so_far += [rows]
    return so_far

# %% in a class, for all of its objects
class Trainer:
    def __init__(self, model, callbacks=[]):  # lint: XL410
        self.model = model
        self.callbacks = callbacks

    def on_end(self, callback):
        self.callbacks.append(callback)

# %% a dictionary of lists, by keyword only
def sort_in(item, *, groups=defaultdict(list)):  # lint: XL410
    groups[item.kind] = item

# %% what is not in it yet
def unseen(scan, seen=[]):  # lint: XL410
    if scan.name not in seen:
        seen.append(scan.name)
    return len(seen)

unseen(scan)
