# %% outputs in a list: filled
import torch

net = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.ReLU(), torch.nn.Linear(400, 20))
outputs = []
for batch in range(5):
    outputs.append(net(torch.rand(300, 200)))

# %% outputs in a list: still there  # expect: XL101
shapes = [output.shape for output in outputs]

# %% outputs in a dictionary: filled
by_name = {}
for name in ("train", "valid", "test"):
    by_name[name] = net(torch.rand(500, 200))

# %% outputs in a dictionary: still there  # expect: XL101
names = sorted(by_name)

# %% a history inside a dictionary: filled
curve = {"features": []}
for batch in range(4):
    curve["features"].append(net(torch.rand(400, 200)).relu())

# %% a history inside a dictionary: still there  # expect: XL101
count = len(curve["features"])

# %% outputs in a tuple: filled
folds = tuple(net(torch.rand(400, 200)) for fold in range(3))

# %% outputs in a tuple: still there  # expect: XL101
sizes = [fold.shape for fold in folds]
