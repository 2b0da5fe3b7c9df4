# %% no flag
import torch

net = torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.Sigmoid(), torch.nn.Linear(400, 20))
loss = net(torch.rand(2_000, 200)).square().mean()
loss.backward()

# %% two losses of one output, the flag on the first
scores = net(torch.rand(2_000, 200))
first, second = scores.square().mean(), scores.abs().mean()
first.backward(retain_graph=True)
second.backward()

# %% two losses with a network of their own each, the flag on the first
maker = torch.nn.Linear(64, 200)
made = maker(torch.rand(2_000, 64))
judged = net(torch.rand(2_000, 200)).mean() - net(made).mean()
judged.backward(retain_graph=True)
fooled = -net(made).mean()
fooled.backward()

# %% the second pass in the next cell: led back once
loss = net(torch.rand(2_000, 200)).square().mean()
loss.backward(retain_graph=True)

# %% the second pass in the next cell: led back again
loss.backward()

# %% rows of a Jacobian
inputs = torch.rand(3_000, 200, requires_grad=True)
outputs = torch.sigmoid(inputs).sum(0)
rows = []
for column in range(3):
    outputs[column].backward(retain_graph=True)
    rows.append(inputs.grad.norm().item())

# %% a loss that was not led back
valid = net(torch.rand(2_000, 200)).square().mean()

# %% only its value is kept
parts = []
for batch in range(4):
    part = net(torch.rand(500, 200)).square().mean()
    part.backward(retain_graph=True)  # lint: XL206
    parts.append(part.item())
del part

# %% the end
count = len(parts)
