# %% switched on and trained in one cell  # expect: XL211
import torch

def train(net, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        net(torch.rand(8, 4)).square().mean().backward()
        optimizer.step()

net = torch.nn.Linear(4, 2)
torch.autograd.set_detect_anomaly(True);
train(net, 20)

# %% switched off
torch.autograd.set_detect_anomaly(False);

# %% by a function, and trained later: switched on
def debug_on():
    torch.autograd.set_detect_anomaly(True)

debug_on()

# %% by a function, and trained later: trained  # expect: XL211
train(net, 30)

# %% switched off again
torch.autograd.set_detect_anomaly(False);

# %% without the search for NaN, over two cells: a few steps
torch.autograd.set_detect_anomaly(True, check_nan=False);  # lint: XL211
encoder = torch.nn.Linear(4, 4)
train(encoder, 6)

# %% without the search for NaN, over two cells: many  # expect: XL211
optimizer = torch.optim.Adam(encoder.parameters())
for step in range(12):
    encoder(torch.rand(3, 4)).sum().backward()
    optimizer.step()  # lint: XL204
