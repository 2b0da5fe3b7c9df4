# %% one diagram
import numpy as np
from matplotlib.figure import Figure

fig = Figure()
ax = fig.subplots()
rng = np.random.default_rng(0)

# %% an image in each run
heat = rng.normal(size=(400, 400))
ax.imshow(heat);

# %% an image in each run
heat = rng.normal(size=(400, 400))
ax.imshow(heat);

# %% an image in each run
heat = rng.normal(size=(400, 400))
ax.imshow(heat);

# %% callbacks of one canvas
other = Figure()

# %% a callback in each run
def make_callback():
    cube = rng.normal(size=(300, 300))
    return lambda event: print(cube[0])

other.canvas.mpl_connect("pick_event", make_callback());

# %% a callback in each run
def make_callback():
    cube = rng.normal(size=(300, 300))
    return lambda event: print(cube[0])

other.canvas.mpl_connect("pick_event", make_callback());

# %% a callback in each run
def make_callback():
    cube = rng.normal(size=(300, 300))
    return lambda event: print(cube[0])

other.canvas.mpl_connect("pick_event", make_callback());

# %% an optimizer
import torch

optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)

# %% a head in each run
head = torch.nn.Linear(400, 400)
optimizer.add_param_group({"params": head.parameters()});

# %% a head in each run
head = torch.nn.Linear(400, 400)
optimizer.add_param_group({"params": head.parameters()});

# %% a head in each run
head = torch.nn.Linear(400, 400)
optimizer.add_param_group({"params": head.parameters()});

# %% a verdict  # expect: XL425 # expect: XL425 # expect: XL422
print(heat.std(), head.bias.shape)
%leakcheck
