# %% deleted with its graph alive
import torch

decoder = torch.nn.Linear(4, 4)
logits = decoder(batch)
chances = logits.softmax(-1)
score = chances.square().mean()
del logits, chances  # lint: XL108
torch.cuda.empty_cache()
print(score)

# %% in a function
def rate(model, batch):
    hidden = decoder(batch)
    level = hidden.exp().sum()
    del hidden  # lint: XL108
    return level

# %% made in one cell
features = decoder(batch)
summary = features.sigmoid().sum(1)

# %% deleted in another
del features  # lint: XL108

# %% and used
plot(summary)
