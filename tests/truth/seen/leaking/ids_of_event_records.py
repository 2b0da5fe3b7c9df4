# /// truth
# question = "hides"
# style = "short"
# needs = ["numpy"]
# thread = "numpy issue tracker, 2021 and older: a part taken of an array in a loop keeps the whole array, answer is to copy; here the part is one field of a record array"
# leaked = "6 * 60_000 * (144 - 8)"
# cause_cell = 1
# cause_line = "rec = np.zeros(60_000"
# holder = ["event_ids"]
# repair = "event_ids = {run: ids.copy() for run, ids in event_ids.items()}"
# ///
# %%
import numpy as np

def load_run(run):
    rec = np.zeros(60_000, dtype=[("event", "i8"), ("t", "f8"), ("adc", "f4", (32,))])
    rec["event"] = np.arange(60_000) + run * 60_000
    rec["adc"] = np.random.default_rng(run).normal(size=(60_000, 32))
    return rec

event_ids = {run: load_run(run)["event"] for run in range(6)}
# %%
n = sum(len(ids) for ids in event_ids.values())
print(f"{n} events, last id {event_ids[5][-1]}")
