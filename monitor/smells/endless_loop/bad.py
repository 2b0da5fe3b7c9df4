# %% batches for ever
import itertools
from itertools import count

import torch

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

def train(clips):
    for clip in itertools.cycle(clips):  # lint: XL303
        optimizer.zero_grad()
        net(clip).mean().backward()
        optimizer.step()

# %% a curve that grows, and a break of an inner loop alone
def record(scale):
    curve = []
    while True:  # lint: XL303
        curve.append(scale * len(curve))
        for value in curve:
            if value > 3:
                break

# %% numbered steps, in a class
class Trainer:
    def run(self, batch):
        for step in count():  # lint: XL303
            loss = net(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(step, loss.item())

# %% a one
def sample(noise):
    while 1:  # lint: XL303
        print(net(noise))
