# %% the value alone: made
import torch

scale = torch.nn.Parameter(torch.ones(1_000))
grown = (torch.rand(800, 1_000) * scale).exp()
score = grown.sum().item()

# %% the value alone: deleted
del grown

# %% led back in the next cell: made
grown = (torch.rand(800, 1_000) * scale).exp()
loss = grown.sum()

# %% led back in the next cell: deleted
del grown

# %% led back in the next cell: led back
loss.backward()

# %% an operation that needs nothing of it: made
shifted = (torch.rand(800, 1_000) * scale) + 3
middle = shifted.mean()

# %% an operation that needs nothing of it: deleted
del shifted

# %% the derived value is deleted too: made
grown = (torch.rand(800, 1_000) * scale).exp()
total = grown.sum()

# %% the derived value is deleted too: deleted
del grown, total

# %% without a graph: made
with torch.no_grad():
    grown = (torch.rand(800, 1_000) * scale).exp()
    total = grown.sum()

# %% without a graph: deleted
del grown

# %% another name has it: made
images = torch.rand(2_000, 500)
dataset = {"train": images}
features = torch.nn.functional.linear(images, torch.nn.Parameter(torch.ones(20, 500)))

# %% another name has it: deleted
del images

# %% the end
count = len(dataset)
