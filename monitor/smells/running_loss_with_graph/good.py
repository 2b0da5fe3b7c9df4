# %% numbers
import torch

net = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.ReLU(), torch.nn.Linear(400, 20))
total = 0.0
for batch in range(20):
    total += net(torch.rand(100, 200)).square().mean().item()

# %% detached
average = torch.tensor(0.0)
for batch in range(20):
    average = 0.9 * average + 0.1 * net(torch.rand(100, 200)).square().mean().detach()

# %% after a backward pass for each batch
epoch = 0.0
for batch in range(20):
    loss = net(torch.rand(100, 200)).square().mean()
    loss.backward()
    epoch += loss  # lint: XL203

# %% without a graph
with torch.no_grad():
    valid = 0.0
    for batch in range(20):
        valid += net(torch.rand(100, 200)).square().mean()

# %% a penalty over the parameters
wide = torch.nn.Sequential(*[torch.nn.Linear(300, 300) for layer in range(12)])
penalty = 0.0
for weight in wide.parameters():
    penalty = penalty + weight.norm()

# %% the loss of one deep network
deep = wide(torch.rand(500, 300)).square().mean() + 0.01 * penalty

# %% the parts of one loss: summed
parts = 0.0
for scale in (1, 2, 3, 4):
    parts = parts + net(torch.rand(300, 200) * scale).square().mean()

# %% batches whose gradients are gathered: summed
gathered = 0.0
for batch in range(16):
    gathered = gathered + net(torch.rand(100, 200)).square().mean()

# %% batches whose gradients are gathered: led back
gathered.backward()

# %% outputs side by side, in use
scores = torch.cat([net(torch.rand(100, 200)) for batch in range(20)])

# %% the end
count = len(scores)
