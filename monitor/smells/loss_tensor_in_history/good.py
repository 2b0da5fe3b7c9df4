# %% numbers
import torch

net = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.ReLU(), torch.nn.Linear(400, 20))
losses = []
for batch in range(5):
    losses.append(net(torch.rand(300, 200)).square().mean().item())

# %% detached tensors
kept = [net(torch.rand(300, 200)).square().mean().detach() for batch in range(5)]

# %% after backward, which lets go of what was saved
steps = []
for batch in range(5):
    loss = net(torch.rand(300, 200)).square().mean()
    loss.backward()
    steps.append(loss)

# %% gathered for one backward pass: filled
parts = [net(torch.rand(300, 200)).square().mean() for batch in range(5)]

# %% gathered for one backward pass: led back
sum(parts).backward()

# %% pairs gathered for one backward pass: filled
pairs = [(batch, net(torch.rand(300, 200)).square().mean()) for batch in range(5)]

# %% pairs gathered for one backward pass: led back
sum(loss for batch, loss in pairs).backward()

# %% one loss in use
loss = net(torch.rand(2_000, 200)).sum()

# %% the end
count = len(losses)
