# %% an area for each
import ipywidgets as widgets
from IPython.display import display

for night in survey:
    box = widgets.Output()  # lint: XL414
    with box:
        display(night.mosaic)
    panels.append(box)

# %% a display for each, in a function
def follow(stars):
    for star in stars:
        display(star, display_id=True)  # lint: XL414

# %% by the name of the class
from ipywidgets import Image

while queue:
    picture = Image(value=queue.pop())  # lint: XL414
