# %% around one loop alone
import torch

def train(net, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        net(torch.rand(8, 4)).square().mean().backward()
        optimizer.step()

net = torch.nn.Linear(4, 2)
with torch.autograd.detect_anomaly():
    train(net, 20)

# %% switched off at the end
torch.autograd.set_detect_anomaly(True);
train(net, 20)
torch.autograd.set_detect_anomaly(False);

# %% one batch
torch.autograd.set_detect_anomaly(True);
train(net, 1)

# %% looked at, and off
print(net.weight.grad)
torch.autograd.set_detect_anomaly(False);

# %% gradcheck on a tiny input
torch.autograd.set_detect_anomaly(True);
checked = torch.autograd.gradcheck(torch.sin, torch.rand(3, dtype=torch.double, requires_grad=True))

# %% gradcheck: off
torch.autograd.set_detect_anomaly(False);

# %% trained without it
train(net, 50)

# %% on after the training, for nothing yet
torch.autograd.set_detect_anomaly(True);

# %% on after the training, for a prediction
with torch.no_grad():
    predicted = net(torch.rand(8, 4))
