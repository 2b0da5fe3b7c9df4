# %% a batch for each step
import torch
from torch.utils.data import DataLoader, TensorDataset

triplets = DataLoader(TensorDataset(torch.rand(12, 3)), batch_size=4)
for step in range(5):
    (anchor,) = next(iter(triplets))  # lint: XL320

# %% by its method, in a while loop
step = 0
while step < 5:
    anchor = iter(triplets).__next__()  # lint: XL320
    step += 1

# %% a method of a class
class Trainer:
    def __init__(self, loader):
        self.loader = loader

    def step(self):
        return next(iter(self.loader))[0].mean()  # lint: XL320

    def run(self, steps):
        return sum(self.step() for number in range(steps))

total = Trainer(triplets).run(3)

# %% collected
means = [next(iter(triplets))[0].mean().item() for number in range(3)]  # lint: XL320

# %% with workers, all kept
workers = DataLoader(TensorDataset(torch.rand(12, 3)), batch_size=4, num_workers=1)
feeds = []
for step in range(3):
    feeds.append(iter(workers))
    (anchor,) = next(feeds[-1])

# %% with workers: later
print(anchor.shape)

# %% with workers: later still  # expect: XL320
print(step)

# %% a function that hands both on
def first_of(loader):
    batches = iter(loader)
    return next(batches), batches

# %% by number
kept = {step: first_of(workers) for step in range(4)}

# %% by number: later
print(anchor.shape)

# %% by number: later still  # expect: XL320
print(step)

# %% an object for each step
class Step:
    def __init__(self, loader):
        self.batches = iter(loader)  # lint: XL321
        self.batch = next(self.batches)

steps = [Step(workers) for number in range(3)]

# %% an object for each step: later
print(anchor.shape)

# %% an object for each step: later still  # expect: XL320
print(step)
