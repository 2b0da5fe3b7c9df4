# %% detached outputs
import torch

net = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.ReLU(), torch.nn.Linear(400, 20))
outputs = []
for batch in range(5):
    outputs.append(net(torch.rand(300, 200)).detach())

# %% without a graph
with torch.no_grad():
    predictions = [net(torch.rand(300, 200)) for batch in range(5)]

# %% classes, which have no graph
classes = [net(torch.rand(300, 200)).argmax(1) for batch in range(5)]

# %% collected for one backward pass: filled
parts = [net(torch.rand(300, 200)).square() for batch in range(5)]

# %% collected for one backward pass: led back
total = torch.stack(parts).sum()
total.backward()

# %% one output in use
latest = net(torch.rand(2_000, 200))

# %% the end
count = len(outputs)
