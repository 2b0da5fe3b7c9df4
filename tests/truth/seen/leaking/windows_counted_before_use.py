# /// truth
# question = "hides"
# style = "short"
# needs = ["numpy"]
# thread = "CPython issues and Stack Overflow over many years: itertools.tee stores all items that the slower of the two iterators has not had"
# leaked = "25 * 1000 * 250 * 8"
# cause_cell = 1
# cause_line = "yield r.normal("
# holder = ["win", "probe"]
# repair = "del win, probe"
# ///
# %%
import itertools
import numpy as np

def windows(n):
    r = np.random.default_rng(1)
    for _ in range(n):
        yield r.normal(size=(1000, 250))

win, probe = itertools.tee(windows(25))
n_win = sum(1 for _ in probe)
# %%
print(n_win, "windows,", n_win // 5, "per fold")
