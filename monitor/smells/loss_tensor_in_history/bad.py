# %% losses of a validation: filled
import torch

net = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.ReLU(), torch.nn.Linear(400, 20))
losses = []
for batch in range(5):
    losses.append(net(torch.rand(300, 200)).square().mean())

# %% losses of a validation: still there  # expect: XL102
mean = sum(float(loss.detach()) for loss in losses) / len(losses)

# %% a curve by name: filled
curve = {"train": [], "valid": []}
for batch in range(4):
    curve["valid"].append(net(torch.rand(400, 200)).abs().sum())

# %% a curve by name: still there  # expect: XL102
count = len(curve["valid"])

# %% several losses of one model each: filled
by_model = {}
for seed in ("a", "b", "c"):
    model = torch.nn.Sequential(torch.nn.Linear(200, 300), torch.nn.Tanh())
    by_model[seed] = model(torch.rand(600, 200)).sum()

# %% several losses of one model each: still there  # expect: XL102
names = sorted(by_model)

# %% the same losses in two logs: filled
log, rows = [], []
for batch in range(4):
    log.append(net(torch.rand(400, 200)).square().mean())
    rows.append({"batch": batch, "loss": log[-1]})

# %% the same losses in two logs: still there  # expect: XL102
count = len(rows)

# %% rows of a table: filled
table = []
for epoch in range(4):
    table.append((epoch, net(torch.rand(400, 200)).square().mean()))

# %% rows of a table: still there  # expect: XL102
count = len(table)

# %% dictionaries: filled
entries = []
for epoch in range(4):
    entries.append({"epoch": epoch, "loss": net(torch.rand(400, 200)).abs().mean()})

# %% dictionaries: still there  # expect: XL102
count = len(entries)
