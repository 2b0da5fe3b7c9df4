# %% a result that its operation needs: made
import torch

scale = torch.nn.Parameter(torch.ones(1_000))
grown = (torch.rand(800, 1_000) * scale).exp()
score = grown.sum()

# %% a result that its operation needs: deleted
del grown  # lint: XL108

# %% a result that its operation needs: still there  # expect: XL108
value = score.item()

# %% an input that a layer needs: made
layer = torch.nn.Linear(500, 20)
images = torch.rand(2_000, 500)
features = layer(images)

# %% an input that a layer needs: set to None
images = None

# %% an input that a layer needs: still there  # expect: XL108
shape = features.shape

# %% a factor, held by two values: made
weights = (torch.rand(900, 1_000) * scale).softmax(-1)
answer = weights.square()
loss = answer.mean()

# %% a factor, held by two values: deleted
if answer.shape[0] > 3:
    del weights  # lint: XL108

# %% a factor, held by two values: still there  # expect: XL108
value = loss.item()
