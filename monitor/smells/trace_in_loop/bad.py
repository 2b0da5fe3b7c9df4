# %% the same model in each iteration
import torch
from torch.jit import trace

detector = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
example = torch.rand(2, 8)
times = []
for turn in range(5):
    fast = torch.jit.trace(detector, example)  # lint: XL301
    times.append(fast(example).shape)

# %% imported by its own name, for sizes that come from elsewhere
sizes = list(range(1, 7))
for size in sizes:
    for repeat in range(2):
        fast = trace(detector, torch.rand(size, 8))  # lint: XL301

# %% frozen in a loop that stops by a condition
step = 0
while step < 5:
    frozen = torch.jit.freeze(torch.jit.trace(detector, example))  # lint: XL301
    step += 1

# %% a function
def shape_after(model, batch):
    traced = trace(model, batch)  # lint: XL301
    return traced(batch).shape

# %% that a loop calls
for batch in torch.rand(5, 2, 8):
    print(shape_after(detector, batch))

# %% a large model of each iteration, frozen
import gc

def classifier():
    return torch.nn.Sequential(torch.nn.Linear(500, 500), torch.nn.ReLU()).eval()

picture = torch.rand(2, 500)

# %% five of them  # expect: XL301
for turn in range(5):
    frozen = torch.jit.freeze(torch.jit.trace(classifier(), picture))  # lint: XL301
    times.append(frozen(picture).shape)
del frozen
gc.collect()

# %% a function that has a table in its code
def shifted(table):
    return torch.jit.trace(lambda x: x + table, torch.rand(500, 500))  # lint: XL301

# %% traced for each of many tables  # expect: XL301
shifts = [shifted(torch.rand(500, 500)) for number in range(6)]
sums = [float(shift(torch.zeros(500, 500)).sum()) for shift in shifts]
del shifts

# %% one in each run: the first
exported = torch.jit.freeze(torch.jit.trace(classifier(), picture))

# %% one in each run: the second
exported = torch.jit.freeze(torch.jit.trace(classifier(), picture))

# %% one in each run: the third
exported = torch.jit.freeze(torch.jit.trace(classifier(), picture))

# %% one in each run: the fourth  # expect: XL301
exported = torch.jit.freeze(torch.jit.trace(classifier(), picture))
