# %% one diagram
import numpy as np
from matplotlib.figure import Figure

fig = Figure()
ax = fig.subplots()
rng = np.random.default_rng(0)

# %% an image in each run
ax.cla()
heat = rng.normal(size=(400, 400))
ax.imshow(heat);

# %% an image in each run
ax.cla()
heat = rng.normal(size=(400, 400))
ax.imshow(heat);

# %% an image in each run
ax.cla()
heat = rng.normal(size=(400, 400))
ax.imshow(heat);

# %% small multiples
page = Figure()
for panel in page.subplots(2, 3).flat:
    panel.imshow(rng.normal(size=(300, 300)))

# %% a verdict
print(heat.std(), len(page.axes))
%leakcheck
