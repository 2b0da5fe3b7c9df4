# %% a generator
import itertools
import queue

import torch

net = torch.nn.Linear(3, 1)

def forever(loader):
    while True:
        for batch in loader:
            yield net(batch)

# %% until the data ends
batches = iter([torch.rand(2, 3), torch.rand(2, 3)])
results = []
while True:
    try:
        results.append(net(next(batches)).shape)
    except StopIteration:
        break

# %% as long as the longer of two
for number, batch in zip(itertools.cycle([1, 2]), torch.rand(4, 2, 3)):
    results.append(number * len(batch))

# %% a server
def serve(jobs: queue.Queue, answers):
    while True:
        answers.append(net(jobs.get()))

# %% until somebody returns
def converge(x):
    while True:
        x = net(x).expand(-1, 3)
        if x.abs().max() < 1e-3:
            return x

# %% counted
for step in itertools.islice(itertools.count(), 5):
    results.append(step)
