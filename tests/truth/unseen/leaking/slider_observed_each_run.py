# /// truth
# question = "grows"
# style = "short"
# needs = ["pandas", "numpy", "ipywidgets"]
# thread = "ipython and ipywidgets trackers, 2014 and 2024: each run of a cell that observes a slider adds a handler, the handlers of earlier runs stay subscribed"
# order = [1, 2, 2, 2, 2, 3]
# leaked = "3 * 200_000 * 10 * 8"
# cause_cell = 2
# cause_line = "df = pd.DataFrame"
# holder = ["slider", "observe", "on_change", "_trait_notifiers"]
# repair = """
# slider.unobserve_all("value")
# slider.observe(on_change, "value")
# """
# ///
# %%
import numpy as np, pandas as pd
import ipywidgets as w

slider = w.IntSlider(min=1, max=50, value=5)
# %%
def make_handler():
    df = pd.DataFrame(np.random.default_rng(3).normal(size=(200_000, 10)))
    def on_change(change):
        print(df.iloc[: change["new"] * 100, 0].mean())
    return on_change

on_change = make_handler()
slider.observe(on_change, "value")
# %%
slider.value = 8
