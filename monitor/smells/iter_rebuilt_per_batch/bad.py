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
