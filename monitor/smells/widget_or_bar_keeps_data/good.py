# %% a dashboard in use
import ipywidgets as widgets
import numpy as np
from IPython.display import display

def dashboard():
    spectrum = np.ones(200_000)
    sliders = [widgets.FloatSlider(description=name) for name in ("low", "high", "gain")]
    area = widgets.Output()
    area.append_stdout("counts\n" * 100_000)
    for slider in sliders:
        slider.observe(lambda change: area.append_stdout(str(spectrum.sum())), "value")
    display(widgets.HBox([*sliders, area]))

dashboard()

# %% a dashboard in use: two more in other cells
dashboard()

# %% a dashboard in use: the other
dashboard() if True else None

# %% one output area
area = widgets.Output()
for night in range(8):
    area.clear_output(wait=True)
    area.outputs = ()
    area.append_stdout(f"night {night}\n" * 60_000)

# %% one output area: again
for night in range(8):
    area.clear_output(wait=True)
    area.outputs = ()
    area.append_stdout(f"night {night}\n" * 60_000)

# %% closed when it is done
for night in range(8):
    picture = widgets.Image(value=bytes(300_000))
    picture.close()

# %% closed when it is done: again
for night in range(8):
    picture = widgets.Image(value=bytes(300_000))
    picture.close()

# %% closed when it is done: again
for night in range(8):
    picture = widgets.Image(value=bytes(300_000))
    picture.close()

# %% bars on the screen
from tqdm.notebook import tqdm

for epoch in range(30):
    for batch in tqdm(range(3)):
        pass

# %% a gallery on the screen
for night in range(8):
    display(widgets.Image(value=bytes(300_000)))

# %% bars of text
from tqdm import tqdm as text_bar

for batch in text_bar([np.ones(10_000) for _ in range(40)]):
    pass

# %% bars of text: again
for batch in text_bar([np.ones(10_000) for _ in range(40)]):
    pass

# %% bars of text: again
for batch in text_bar([np.ones(10_000) for _ in range(40)]):
    pass

# %% shown by another cell: made
view = widgets.Image(value=bytes(700_000))

# %% shown by another cell: shown
display(widgets.Box([view]))

# %% shown by another cell: made
view = widgets.Image(value=bytes(700_000))

# %% shown by another cell: made
view = widgets.Image(value=bytes(700_000))

# %% linked in the front end
for name in range(4):
    low, high = widgets.Text("-" * 400_000), widgets.Text("-" * 400_000)
    display(low, high)
    widgets.jslink((low, "value"), (high, "value"))

# %% handed on by a name
gallery = {night: widgets.Image(value=bytes(300_000)) for night in range(8)}

# %% all of them are shown with the newest
tabs = []

# %% all of them are shown with the newest: run
tabs.append(widgets.Image(value=bytes(900_000)))
display(widgets.Tab(tabs))

# %% all of them are shown with the newest: run
tabs.append(widgets.Image(value=bytes(900_000)))
display(widgets.Tab(tabs))

# %% all of them are shown with the newest: run
tabs.append(widgets.Image(value=bytes(900_000)))
display(widgets.Tab(tabs))
