# needs: gpu
# %% a gibibyte of the device is all that torch may have
import torch
from torch import nn

free, total = torch.cuda.mem_get_info()
torch.cuda.set_per_process_memory_fraction((1040 << 20) / total)

def deep(layers):
    return nn.Sequential(nn.PReLU(), *[nn.Sigmoid() for layer in range(layers)]).cuda()

def batch(rows):
    return torch.rand(rows, 16, device="cuda")

# %% each of 27 layers keeps 32 MiB  # expect: XL603
net = deep(27)
tiles = batch(1 << 19)
loss = net(tiles).mean()
loss.backward()

# %% the next one is small
loss = net(batch(64)).mean()
loss.backward()

# %% in a function, in a loop of steps  # expect: XL603
def train(model, rows, steps):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for step in range(steps):
        optimizer.zero_grad()
        model(batch(rows)).mean().backward()
        optimizer.step()

train(net, 1 << 19, 2)

# %% small again
train(net, 64, 2)

# %% a network of a class, by its attribute  # expect: XL603
class Trainer:
    def __init__(self):
        self.model = deep(12)

    def fit(self, rows):
        self.loss = self.model(batch(rows)).mean()
        self.loss.backward()

trainer = Trainer()
trainer.fit(1 << 20)
