# %% pictures that nothing shows  # expect: XL414
import ipywidgets as widgets
from IPython.display import display

for night in range(8):
    picture = widgets.Image(value=bytes(300_000))  # lint: XL414

# %% a report in an output area: made
def report(night):
    area = widgets.Output()
    area.append_stdout(f"night {night}\n" * 80_000)
    display(widgets.VBox([widgets.HTML("<b>Report</b>"), area]))

# %% a report in an output area: run
report(1)

# %% a report in an output area: run
report(1)

# %% something else
print(night)

# %% a report in an output area: run  # expect: XL414
report(1)

# %% bars: run
from tqdm.notebook import tqdm

for epoch in range(25):
    for batch in tqdm(range(3), desc=f"epoch {epoch}"):
        pass

# %% bars: run
from tqdm.notebook import tqdm

for epoch in range(25):
    for batch in tqdm(range(3), desc=f"epoch {epoch}"):
        pass

# %% bars: run  # expect: XL414
from tqdm.notebook import tqdm

for epoch in range(25):
    for batch in tqdm(range(3), desc=f"epoch {epoch}"):
        pass

# %% a result that a slider computes: run
import numpy as np

widgets.interact(lambda level: np.full(150_000, float(level)), level=(0, 9));

# %% a result that a slider computes: run
import numpy as np

widgets.interact(lambda level: np.full(150_000, float(level)), level=(0, 9));

# %% a result that a slider computes: run  # expect: XL414
import numpy as np

widgets.interact(lambda level: np.full(150_000, float(level)), level=(0, 9));

# %% a name that is given again: run
view = widgets.Image(value=bytes(600_000))
display(view)

# %% a name that is given again: run
view = widgets.Image(value=bytes(600_000))
display(view)

# %% a name that is given again: run  # expect: XL414
view = widgets.Image(value=bytes(600_000))
display(view)

# %% the value of a cell: run
widgets.VBox([widgets.Text("a spectrum"), widgets.Image(value=bytes(600_000))])

# %% the value of a cell: run
widgets.VBox([widgets.Text("a spectrum"), widgets.Image(value=bytes(600_000))])

# %% the value of a cell: run  # expect: XL414
widgets.VBox([widgets.Text("a spectrum"), widgets.Image(value=bytes(600_000))])

# %% a list of panels: made
panels = []

# %% a list of panels: run
area = widgets.Output()
area.append_stdout("a line of the log\n" * 40_000)
display(widgets.HBox([widgets.Label("log"), area]))
panels.append(area)

# %% a list of panels: run
area = widgets.Output()
area.append_stdout("a line of the log\n" * 40_000)
display(widgets.HBox([widgets.Label("log"), area]))
panels.append(area)

# %% a list of panels: run  # expect: XL414
area = widgets.Output()
area.append_stdout("a line of the log\n" * 40_000)
display(widgets.HBox([widgets.Label("log"), area]))
panels.append(area)
