# %% one area
import ipywidgets as widgets
from IPython.display import display

box = widgets.Output()
for night in survey:
    box.clear_output(wait=True)
    with box:
        display(night.thumbnail)
box.close()

# %% closed
for night in survey:
    picture = widgets.Image(value=night.png)
    publish(picture)
    picture.close()

# %% bars
from tqdm.notebook import tqdm

for night in tqdm(survey):
    reduce(night)

# %% buttons of a form
buttons = [widgets.Button(description=name) for name in names]
